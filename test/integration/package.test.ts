import { access, constants, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { build, type Metafile } from 'esbuild';
import { execa } from 'execa';
import { until } from '../support/until.ts';

/**
 * The package that `npm pack` creates from the existing build, installed from that file under a
 * separate prefix.
 */

let folder = '';
let archive = '';
let files: string[] = [];
const at = (path: string) => join(folder, path);
const installed = () => at('prefix/lib/node_modules/stowage');
/**
 * Returns an environment without the checkout in PATH, and without other variables of the shell.
 */
const environment = () => ({
  PATH: `${at('prefix/bin')}:${join(process.execPath, '..')}:/usr/bin:/bin`,
  HOME: folder,
});
const stowage = (program: string, ...args: string[]) =>
  execa(at(`prefix/bin/${program}`), args, {
    cwd: folder,
    env: environment(),
    extendEnv: false,
    reject: false,
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stowage-package-'));
  const { stdout } = await execa('npm', [
    'pack',
    '--ignore-scripts',
    '--json',
    '--pack-destination',
    folder,
  ]);
  const [packed] = JSON.parse(stdout);
  archive = packed.filename;
  files = packed.files.map(({ path }: { path: string }) => path);
  const install = [
    'install',
    '--loglevel=notice',
    '--global',
    '--offline',
    '--prefix',
    at('prefix'),
    at(packed.filename),
  ];
  const { stdout: said } = await execa('npm', install, { cwd: folder });
  expect(said).toMatch(/^added 1 package in /m);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('the package has all files to run and read, and none only for build or test', () => {
  const top = new Set(files.map((path) => path.split('/')[0]));
  expect([...top].sort()).toEqual(
    expect.arrayContaining(['README.md', 'bin', 'deploy', 'dist', 'docs', 'package.json', 'salt']),
  );
  expect(
    [...top].filter((name) =>
      /^(src|test|scripts|node_modules|coverage|tsconfig|jest|biome|\.)/.test(name ?? ''),
    ),
  ).toEqual([]);
  expect(files).toEqual(
    expect.arrayContaining([
      'dist/main.mjs',
      'dist/THIRD-PARTY-NOTICES',
      'dist/ui/index.html',
      'dist/ui/page.css',
      'dist/ui/page.mjs',
      'deploy/stowage.service',
      'deploy/Containerfile',
      'deploy/sudoers',
      'docs/installing.md',
    ]),
  );
  expect(
    files.filter(
      (path) => path.endsWith('.pyc') || path.includes('__pycache__') || path.includes('meta.json'),
    ),
  ).toEqual([]);
});

test('the image uses the archive of this npm pack, not an older one', async () => {
  const lines = (await readFile('deploy/Containerfile', 'utf8')).split('\n');
  expect(lines.filter((line) => line.startsWith('ADD '))).toEqual([`ADD ${archive} /opt/`]);
});

test('the image is based on images pinned by digest', async () => {
  const lines = (await readFile('deploy/Containerfile', 'utf8')).split('\n');
  const from = lines.filter((line) => line.startsWith('FROM '));
  expect(from).toHaveLength(2);
  for (const line of from) expect(line).toMatch(/^FROM \S+:\S+@sha256:[0-9a-f]{64}( AS \w+)?$/);
});

test('the package has no dependencies and no install scripts', async () => {
  const { dependencies, optionalDependencies, scripts } = JSON.parse(
    await readFile(join(installed(), 'package.json'), 'utf8'),
  );
  expect([dependencies, optionalDependencies]).toEqual([undefined, undefined]);
  expect(
    Object.keys(scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name)),
  ).toEqual([]);
  expect(await readdir(at('prefix/lib/node_modules'))).toEqual(['stowage']);
  expect(await readdir(installed())).not.toContain('node_modules');
});

test('the package imports only its own files and Node.js modules', async () => {
  const { metafile } = await build({
    entryPoints: [join(installed(), 'dist/main.mjs')],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'silent',
    outdir: folder,
    splitting: true,
  });
  const imported = Object.values((metafile as Metafile).inputs).flatMap(({ imports }) => imports);
  const outside = new Set(imports(imported).filter((path) => !path.startsWith('node:')));
  const { builtinModules } = await import('node:module');
  expect([...outside].filter((path) => !builtinModules.includes(path.split('/')[0] ?? ''))).toEqual(
    [],
  );
});
const imports = (all: Metafile['inputs'][string]['imports']): string[] =>
  all.flatMap(({ path, external }) => (external ? [path] : []));

describe('the installed package', () => {
  test('provides every program under its name', async () => {
    const { bin, version } = JSON.parse(await readFile('package.json', 'utf8'));
    expect((await readdir(at('prefix/bin'))).sort()).toEqual(Object.keys(bin).sort());
    for (const name of Object.keys(bin)) await access(at(`prefix/bin/${name}`), constants.X_OK);
    expect(await stowage('stowage', '--version')).toMatchObject({ exitCode: 0, stdout: version });
    expect(await stowage('kubectl-stowage', '--version')).toMatchObject({
      exitCode: 0,
      stdout: version,
    });
  });

  test('prints manifests, and runs a sandbox, without the checkout', async () => {
    const manifests = await stowage('stowage', 'install', '--dry-run=client');
    expect([manifests.exitCode, manifests.stdout]).toEqual([
      0,
      expect.stringContaining('kind: Deployment'),
    ]);
    const sandbox = execa(
      at('prefix/bin/stowage'),
      ['sandbox', '--port', '0', '--kubeconfig-out', at('kubeconfig')],
      {
        ...{ cwd: folder, env: environment(), extendEnv: false, reject: false },
      },
    );
    await until('the sandbox has written its kubeconfig', () =>
      access(at('kubeconfig')).then(
        () => true,
        () => undefined,
      ),
    );
    const got = await stowage('stowage', '--kubeconfig', at('kubeconfig'), 'get', 'volumes');
    expect([got.exitCode, got.stderr]).toEqual([0, expect.stringContaining('No volumes found')]);
    sandbox.kill('SIGTERM');
    expect((await sandbox).exitCode).toBe(0);
  });

  // Man pages and completions are in the package if the checkout has them.
  test('includes the man pages and completions of the checkout', async () => {
    const here = (name: string) => readdir(name).catch(() => []);
    const [pages, completions] = [await here('man'), await here('completions')];
    const man = pages.length === 0 ? [] : await readdir(at('prefix/share/man/man1'));
    expect(man.sort()).toEqual(pages.sort());
    expect(files).toEqual(expect.arrayContaining(completions.map((name) => `completions/${name}`)));
  });

  test('has a unit that starts stowage where npm installs programs', async () => {
    const unit = await readFile(join(installed(), 'deploy/stowage.service'), 'utf8');
    expect(unit).toMatch(/^ExecStart=\/usr\/local\/bin\/stowage watch$/m);
  });
});

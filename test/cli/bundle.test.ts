import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Metafile } from 'esbuild';
import { ASSETS } from '../../src/cli/ui/check-request.ts';
import { json } from '../support/fake-api.ts';
import { startHttpProxy, startSocksProxy } from '../support/proxies.ts';
import { CHAINED, INTERMEDIATE } from '../support/tls.ts';

let folder = '';
let outputs: Metafile['outputs'] = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stowage-bundle-'));
  await promisify(execFile)(process.execPath, ['scripts/build.mjs', folder]);
  ({ outputs } = JSON.parse(await readFile(join(folder, 'meta.json'), 'utf8')) as Metafile);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const chunkOf = (source: string): string =>
  Object.keys(outputs).find((name) => outputs[name]?.entryPoint === source) ?? '';

/**
 * Returns all sources that are loaded with a chunk, without those that a later `import()` may load.
 */
function loadedWith(chunk: string, seen = new Set<string>()): string[] {
  if (seen.has(chunk)) return [];
  seen.add(chunk);
  const { inputs = {}, imports = [] } = outputs[chunk] ?? {};
  return [
    ...Object.keys(inputs),
    ...imports.flatMap(({ path, kind }) =>
      kind === 'import-statement' ? loadedWith(path, seen) : [],
    ),
  ];
}

const packagesOf = (sources: string[]): string[] =>
  [...new Set(sources.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]))]
    .filter((name) => name !== undefined)
    .sort();

test('--help and --version load commander, chalk and no code for clusters', () => {
  const sources = [
    ...loadedWith(chunkOf('src/main.ts')),
    ...loadedWith(chunkOf('src/cli/process.ts')),
  ];
  expect(sources).toContain('src/cli/program.ts');
  expect(packagesOf(sources)).toEqual(['chalk', 'commander']);
  expect(
    sources.filter((path) => /^src\/(kube|sandbox|storage|nodes|api\/reasons)/.test(path)),
  ).toEqual([]);
});

test('get volumes loads no storage driver and no reasons', () => {
  const sources = loadedWith(chunkOf('src/cli/volume/view.ts'));
  expect(sources).toContain('src/api/phase.ts');
  expect(sources.filter((path) => /^src\/(storage|api\/reasons)/.test(path))).toEqual([]);
});

test('completion of fixed words loads no Kubernetes client code', () => {
  const sources = loadedWith(chunkOf('src/cli/complete/complete.ts'));
  expect(sources).toContain('src/cli/complete/parse-cursor.ts');
  expect(sources.filter((path) => path.startsWith('src/kube/'))).toEqual([]);
});

test('src/main.ts loads no package before it enables the compile cache', () => {
  expect(
    loadedWith(chunkOf('src/main.ts')).filter((path) => path.startsWith('node_modules/')),
  ).toEqual([]);
});

test('commands load the Kubernetes client and prompt libraries only on demand', () => {
  for (const command of [
    'volume/attachments/view',
    'volume/detach/detach',
    'volume/manifests/diff/diff',
    'node/get/view',
    'grants/check',
    'grants/view',
    'grants/grant',
    'grants/revoke',
    'volume/manifests/create',
    'populators/view',
    'populators/register',
    'populators/unregister',
    'show-version/show',
    'volume/manifests/delete',
    'snapshots/create',
    'snapshots/view',
    'snapshots/restore/restore',
    'ui/serve',
    'volume/create',
    'volume/delete',
    'volume/describe-volume',
    'volume/view',
    'why/describe/claim',
    'why/describe/node',
    'why/describe/pod',
    'why/describe/snapshot',
    'why/why',
  ]) {
    expect(chunkOf(`src/cli/${command}.ts`)).not.toBe('');
    const packages = packagesOf(loadedWith(chunkOf(`src/cli/${command}.ts`)));
    expect(packages).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/inquirer|^listr2$/)]),
    );
    expect(packages).not.toContain('@kubernetes/client-node');
    expect(packages).not.toContain('undici');
  }
});

test.each([
  ['http', startHttpProxy],
  ['socks5', startSocksProxy],
])('the executable reaches an API server through a proxy: %s', async (scheme, start) => {
  const proxy = await start();
  const server = createServer(
    { key: CHAINED.key, cert: CHAINED.cert + INTERMEDIATE },
    (_, response) => json(response, { items: [], metadata: {} }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const kubeconfig = join(folder, 'kubeconfig');
  const cluster = {
    server: `https://api.test:${port}`,
    'certificate-authority-data': Buffer.from(INTERMEDIATE).toString('base64'),
    'proxy-url': `${scheme}://127.0.0.1:${proxy.port}`,
  };
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'c', cluster }],
      contexts: [{ name: 'c', context: { cluster: 'c' } }],
      'current-context': 'c',
    }),
  );
  try {
    const run = promisify(execFile)(process.execPath, [
      ...[join(folder, 'main.mjs'), 'get', 'volumes', '-o', 'json'],
      ...['--kubeconfig', kubeconfig],
    ]);
    const { stdout, stderr } = await run;
    expect(JSON.parse(stdout)).toMatchObject({ items: [] });
    // undici warns about its own SOCKS5.
    expect(stderr).toBe('');
    expect(new Set(proxy.seen)).toEqual(new Set([`api.test:${port}`]));
  } finally {
    await proxy.stop();
    server.close();
  }
});

test('commands load proxies only to use them', () => {
  const proxies = loadedWith(chunkOf('src/kube/proxy-agents.ts'));
  expect(packagesOf(proxies)).toEqual(expect.arrayContaining(['socks', 'undici']));
  const sources = loadedWith(chunkOf('src/kube/connect.ts'));
  expect(packagesOf(sources)).toContain('undici');
  expect(packagesOf(sources)).not.toContain('socks');
  expect(sources.filter((path) => /proxy-agent/.test(path))).toEqual([]);
});

test('the bundle has no unused parts of client-node and undici', () => {
  const sources = Object.values(outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((path) => (inputs[path]?.bytesInOutput ?? 0) > 0),
  );
  expect(sources.some((path) => path.endsWith('/@kubernetes/client-node/dist/config.js'))).toBe(
    true,
  );
  expect(sources.some((path) => path.endsWith('/undici/lib/dispatcher/agent.js'))).toBe(true);
  // API classes and a separate fetch: most of these packages, and of their load time.
  expect(sources.filter((path) => path.includes('/client-node/dist/gen/models/V1'))).toEqual([]);
  expect(
    sources.filter((path) =>
      /\/undici\/lib\/(mock\/|cache\/|interceptor\/|dispatcher\/client-h2)/.test(path),
    ),
  ).toEqual([]);
  // As ES modules, they would load all of that from Node.js.
  const imported = Object.values(outputs).flatMap(({ imports }) =>
    imports
      .filter(({ kind, external }) => external && kind === 'import-statement')
      .map(({ path }) => path),
  );
  expect(imported).toContain('node:fs');
  expect(imported.filter((path) => /^(node:)?http$/.test(path))).toEqual([]);
});

test('the package declares its license and contains its text', async () => {
  const { license } = JSON.parse(await readFile('package.json', 'utf8'));
  expect(license).toBe('Apache-2.0');
  expect(await readFile('LICENSE', 'utf8')).toMatch(/^ *Apache License\n *Version 2\.0,/);
});

test('THIRD-PARTY-NOTICES lists each bundled package with its license text', async () => {
  const notices = await readFile(join(folder, 'THIRD-PARTY-NOTICES'), 'utf8');
  const parts = new Map(
    notices.split(/\n-{100}\n\n/).map((part) => [part.slice(0, part.indexOf('\n')), part]),
  );
  const folders = new Set(
    Object.values(outputs)
      .flatMap(({ inputs }) =>
        Object.keys(inputs).filter((path) => (inputs[path]?.bytesInOutput ?? 0) > 0),
      )
      .map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0])
      .filter((path) => path !== undefined),
  );
  expect(folders.size).toBeGreaterThan(50);
  for (const path of folders) {
    const { name, version, license } = JSON.parse(
      await readFile(join(path, 'package.json'), 'utf8'),
    );
    const part = parts.get(`${name} ${version}`);
    expect(part).toContain(`\nLicense: ${license}\n`);
    expect(part).toMatch(/copyright|permission is hereby granted|apache license/i);
  }
});

test('the page of `stowage ui` is small, and requests nothing but its own files', async () => {
  const names = Object.values(ASSETS).map(({ file }) => file);
  const files = await Promise.all(names.map((name) => readFile(join(folder, 'ui', name))));
  const size = files.reduce((sum, file) => sum + gzipSync(file).length, 0);
  expect(size).toBeLessThan(40_000);
  const html = await readFile(join(folder, 'ui', 'index.html'), 'utf8');
  const requested = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path);
  expect(requested.toSorted()).toEqual(['/icon.svg', '/page.css', '/page.mjs']);
  // A policy that allows no inline code, and Trusted Types that allow no markup from texts.
  expect(html).not.toMatch(/<style|<script(?! type="module" src="\/page.mjs")| style=| on\w+=/);
  const css = await readFile(join(folder, 'ui', 'page.css'), 'utf8');
  expect(css).not.toMatch(/url\(|@import/);
  const notices = await readFile(join(folder, 'THIRD-PARTY-NOTICES'), 'utf8');
  expect(notices).toMatch(/^preact \d/m);
});

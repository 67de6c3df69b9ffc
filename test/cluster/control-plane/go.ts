import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { needPackages } from '../../support/debian-packages.ts';

/** The go command and its environment. */
export interface Go {
  command: string;
  env: Record<string, string>;
}

/** First version of the go command that fetches the toolchain of a go.mod itself. */
const SWITCHES_FROM = { major: 1, minor: 21 };

/**
 * Returns a go command that builds modules of Go `version` (`1.26.0`). Uses the one on PATH, or
 * Debian's, if it can fetch toolchains. Otherwise it fetches that version's toolchain as a module.
 */
export async function findGo(version: string): Promise<Go> {
  await needPackages({ go: 'golang-go' });
  const { stdout } = await execa('go', ['version']);
  const [, major = 0, minor = 0] = /go(\d+)\.(\d+)/.exec(stdout) ?? [];
  const switches = Number(major) > SWITCHES_FROM.major || Number(minor) >= SWITCHES_FROM.minor;
  if (switches) return { command: 'go', env: { GOTOOLCHAIN: 'auto' } };
  return { command: await fetchToolchain(version), env: { GOTOOLCHAIN: 'local', GOROOT: '' } };
}

async function fetchToolchain(version: string): Promise<string> {
  const { stdout: platform } = await execa('go', ['env', 'GOOS', 'GOARCH']);
  const module = `golang.org/toolchain@v0.0.1-go${version}.${platform.split(/\s+/).join('-')}`;
  process.stderr.write(`cluster: fetching ${module}\n`);
  // By default, the module cache is read-only, but makeWhole() has to change it.
  const { stdout } = await execa('go', ['mod', 'download', '-json', '-modcacherw', module], {
    cwd: '/',
  });
  const { Dir: folder } = JSON.parse(stdout) as { Dir: string };
  await makeWhole(folder);
  return join(folder, 'bin/go');
}

/**
 * Restores a toolchain fetched as a module: modules contain neither executables nor nested go.mod
 * files. `go` does this itself since 1.21.
 */
async function makeWhole(folder: string): Promise<void> {
  for (const part of ['bin', 'pkg/tool'])
    for (const entry of await readdir(join(folder, part), { recursive: true, withFileTypes: true }))
      if (entry.isFile()) await chmod(join(entry.parentPath, entry.name), 0o755);
  for (const part of ['src', 'src/cmd'])
    await writeFile(join(folder, part, 'go.mod'), await readFile(join(folder, part, '_go.mod')));
}

import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { needPackages } from '../../support/debian-packages.ts';

/** What a go command is run with. */
export interface Go {
  command: string;
  env: Record<string, string>;
}

/** From this version on the go command fetches by itself the toolchain that a go.mod asks for. */
const SWITCHES_FROM = { major: 1, minor: 21 };

/**
 * A go command that builds modules of Go `version` (`1.26.0`): the one on PATH, or Debian's, by its own means when it is
 * new enough to know any, else by the toolchain of that version, which it fetches as a module.
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
  // What the module cache holds is read-only unless it is told otherwise, and has to be mended below.
  const { stdout } = await execa('go', ['mod', 'download', '-json', '-modcacherw', module], {
    cwd: '/',
  });
  const { Dir: folder } = JSON.parse(stdout) as { Dir: string };
  await makeWhole(folder);
  return join(folder, 'bin/go');
}

/** A module holds neither programs that can be run nor a go.mod that is not its own: `go` undoes that, from 1.21 on. */
async function makeWhole(folder: string): Promise<void> {
  for (const part of ['bin', 'pkg/tool'])
    for (const entry of await readdir(join(folder, part), { recursive: true, withFileTypes: true }))
      if (entry.isFile()) await chmod(join(entry.parentPath, entry.name), 0o755);
  for (const part of ['src', 'src/cmd'])
    await writeFile(join(folder, part, 'go.mod'), await readFile(join(folder, part, '_go.mod')));
}

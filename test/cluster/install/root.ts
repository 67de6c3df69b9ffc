import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { needPackages } from '../../support/debian-packages.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cached, keyOf } from '../cache.ts';
import { SUITE } from '../vm/image.ts';
import { debianMirror } from '../vm/mirror.ts';

/** Packages of Debian's own images: apt, and little else. */
const PACKAGES = ['apt', 'ca-certificates', 'passwd'];
/** Version of npm for the Node.js version of package.json, as a new user would install them. */
const NPM = 'npm@11.6.2';

/**
 * A Debian without Stowage that shares only the network with this machine. Nothing is mounted in
 * it.
 */
export interface Root {
  path: string;
  /** Returns the path outside of the root of a path inside of it. */
  outside(path: string): string;
  /** Runs a line as root, as typed at its prompt. */
  type(line: string, options?: { env?: Record<string, string>; reject?: boolean }): Typed;
  remove(): Promise<void>;
}

/** Result of a line, or the line that still runs. */
export interface Typed
  extends Promise<{ exitCode?: number; failed: boolean; stdout: string; stderr: string }> {
  kill(signal: 'SIGTERM'): boolean;
}

/** Creates a root by copying a base that is built once, as root, in about a minute. */
export async function newRoot(): Promise<Root> {
  await needPackages({ mmdebstrap: 'mmdebstrap' });
  const base = await cached('install-root', keyOf(SUITE, ...PACKAGES), async (folder) => {
    const root = join(folder, 'root');
    await execa('mmdebstrap', [
      ...['--quiet', '--variant=essential', `--include=${PACKAGES.join(',')}`],
      ...['--dpkgopt=force-unsafe-io', SUITE, root, await debianMirror()],
    ]);
    // Debian's Docker images have no cached packages or documentation, either.
    await execa('sh', [
      '-c',
      'rm -rf "$1"/var/cache/apt/archives/*.deb "$1"/usr/share/doc/*',
      'sh',
      root,
    ]);
  });
  const folder = await temporaryDirectory('install');
  await chmod(folder.path, 0o755);
  const path = join(folder.path, 'root');
  await execa('cp', ['-a', '--', join(base, 'root'), path]);
  await copyFile('/etc/resolv.conf', join(path, 'etc/resolv.conf'));
  return {
    path,
    outside: (inside) => join(path, inside),
    type: (line, { env = {}, reject = true } = {}) =>
      execa('chroot', [path, 'sh', '-euc', `cd; ${line}`], {
        reject,
        extendEnv: false,
        env: {
          PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
          HOME: '/root',
          ...env,
        },
      }) as unknown as Typed,
    remove: folder.remove,
  };
}

/** Installs npm, and Node.js of the version that package.json names, below /usr/local of a root. */
export async function addNode(root: Root): Promise<void> {
  const { devDependencies } = JSON.parse(await readFile('package.json', 'utf8'));
  const packages = [`node@${devDependencies.node}`, NPM];
  await execa('npm', [
    'install',
    '--global',
    '--no-audit',
    '--prefix',
    root.outside('usr/local'),
    ...packages,
  ]);
}

/**
 * Packs the existing build of this checkout into `folder`.
 * @returns the file, and the content that npm reports
 */
export async function pack(
  folder: string,
): Promise<{ file: string; files: { path: string; mode: number }[] }> {
  await mkdir(folder, { recursive: true });
  const { stdout } = await execa('npm', [
    'pack',
    '--ignore-scripts',
    '--json',
    '--pack-destination',
    folder,
  ]);
  const [packed] = JSON.parse(stdout);
  return { file: join(folder, packed.filename), files: packed.files };
}

/** Writes a file in a root, and creates its parent directories. */
export async function put(root: Root, path: string, content: string, mode = 0o644): Promise<void> {
  await mkdir(join(root.outside(path), '..'), { recursive: true });
  await writeFile(root.outside(path), content, { mode });
}

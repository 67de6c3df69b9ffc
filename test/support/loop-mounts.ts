import { mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { FsType } from '../../src/api/file-systems.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { until } from './until.ts';

/** Directory on its own file system, which may support cloning of files. */
export interface OwnFileSystem {
  path: string;
  /** Fails if a file in the directory remains in use. */
  remove(): Promise<void>;
}

/** Creates a file system in a file and mounts it. XFS clones files, ext4 does not. */
export async function ownFileSystem(type: FsType, bytes = 2n << 30n): Promise<OwnFileSystem> {
  const folder = await temporaryDirectory('clones');
  const image = join(folder.path, 'image');
  const path = join(folder.path, 'folder');
  await writeFile(image, '');
  await truncate(image, Number(bytes));
  await execa(`mkfs.${type}`, ['-q', image]);
  await mkdir(path);
  await execa('mount', ['-o', 'loop', image, path]);
  return {
    path,
    async remove() {
      // A program that lists the open files of all processes may hold the mount for a moment.
      await until(`${path} is not in use`, async () =>
        (await execa('umount', [path], { reject: false })).exitCode === 0 ? true : undefined,
      );
      await rm(folder.path, { recursive: true });
    },
  };
}

/**
 * Starts a process that continuously appends to a file. `writes` waits for an append; `stop`
 * returns the longest interval (ms) between two appends.
 */
export async function startWriter(
  file: string,
): Promise<{ writes(): Promise<void>; stop(): Promise<number> }> {
  const script = `
    import { appendFileSync, writeSync } from 'node:fs';
    let longest = 0;
    let last = performance.now();
    writeSync(1, 'writes\\n');
    process.on('SIGTERM', () => { writeSync(1, 'longest ' + longest + '\\n'); process.exit(0); });
    setInterval(() => {
      appendFileSync(process.argv[1], 'x'.repeat(100));
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }, 5);`;
  const writer = execa(process.execPath, ['--input-type=module', '-e', script, file], {
    reject: false,
  });
  await new Promise((resolve) => writer.stdout.once('data', resolve));
  const size = () =>
    stat(file).then(
      ({ size }) => size,
      () => 0,
    );
  return {
    async writes() {
      const before = await size();
      await until(`${file} grows`, async () => ((await size()) > before ? true : undefined));
    },
    async stop() {
      writer.kill('SIGTERM');
      const { stdout } = await writer;
      return Number(/longest (\S+)/.exec(stdout)?.[1]);
    },
  };
}

/**
 * Returns processes with this environment variable, named by the program, or for `sh -c` by the
 * first argument after the script.
 */
async function withVariable(variable: string): Promise<{ name: string; pid: number }[]> {
  const found: { name: string; pid: number }[] = [];
  for (const pid of await readdir('/proc')) {
    const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
    if (!(await read('environ')).split('\0').includes(variable)) continue;
    const words = (await read('cmdline')).split('\0');
    found.push({ name: words[0] === 'sh' ? (words[3] ?? '') : (words[0] ?? ''), pid: Number(pid) });
  }
  return found;
}

/**
 * Returns the same processes by name. If several have one name, the first counts: the others are
 * its short-lived children.
 */
export async function scriptProcesses(variable: string): Promise<Map<string, number>> {
  const found = await withVariable(variable);
  return new Map(found.reverse().map(({ name, pid }) => [name, pid]));
}

/**
 * Kills these processes and `more` as if simultaneously. All are stopped first, until no running
 * one is found: a process would react to the end of another.
 */
export async function killAtOnce(variable: string, more: readonly number[] = []): Promise<void> {
  const stopped = new Set<number>();
  const signal = (pid: number, name: NodeJS.Signals) => {
    try {
      process.kill(pid, name);
    } catch (error) {
      // The process has ended by itself.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  for (let left = more; ; ) {
    for (const pid of left) {
      signal(pid, 'SIGSTOP');
      stopped.add(pid);
    }
    left = (await withVariable(variable)).map(({ pid }) => pid).filter((pid) => !stopped.has(pid));
    if (left.length === 0) break;
  }
  for (const pid of stopped) signal(pid, 'SIGKILL');
}

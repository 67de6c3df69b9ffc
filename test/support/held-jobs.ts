import { type FSWatcher, watch } from 'node:fs';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { execa } from 'execa';
import { until } from './until.ts';

/**
 * Jobs of a Volume on this machine, from the first one on. Jobs are counted, and wait until they
 * are released.
 */
export interface HeldJobs {
  /**
   * Waits until the process of a job waits for the lock. Earlier, it would end with its starter.
   */
  begun(): Promise<void>;
  /** Lets the jobs run. */
  release(): Promise<void>;
  /** Waits until the first job has ended, or is already removed. */
  ended(): Promise<void>;
  /** Names of the jobs in order, with one entry per job. */
  seen(): string[];
  stop(): Promise<void>;
}

/** Takes the lock that serializes the jobs of a subject. */
export async function holdJobs(uid: string): Promise<HeldJobs> {
  const folder = `/run/stowage/jobs/${uid}`;
  await mkdir('/run/stowage', { recursive: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // The watcher reports each job twice, as jobs are removed once they are no longer needed.
  const told: string[] = [];
  const watcher: FSWatcher = watch(folder, (event, name) => {
    if (event === 'rename' && name !== null && /^[a-z]+-\d+$/.test(name)) told.push(name);
  });
  const holder = execa('flock', [`${folder}/lock`, 'cat'], { stdin: 'pipe', reject: false });
  await until('the lock is held', async () => {
    const { exitCode } = await execa('flock', ['-n', `${folder}/lock`, 'true'], { reject: false });
    return exitCode === 0 ? undefined : true;
  });
  const jobs = async () => (await readdir(folder)).filter((name) => /^[a-z]+-\d+$/.test(name));
  const release = async () => {
    holder.stdin.end();
    await holder;
  };
  return {
    async begun() {
      const { ino } = await stat(`${folder}/lock`);
      // proc(5): a process that is blocked by a lock is listed after the lock, with an arrow.
      const waits = new RegExp(`^\\d+: -> FLOCK .*:${ino} `, 'm');
      await until(`a job of ${uid} that waits`, async () =>
        waits.test(await readFile('/proc/locks', 'utf8')) ? true : undefined,
      );
    },
    release,
    ended: () =>
      until(`the end of a job of ${uid}`, async () => {
        const [job] = await jobs().catch(() => []);
        // A missing job was removed after its end.
        if (job === undefined) return true;
        return stat(`${folder}/${job}/result`).then(
          () => true,
          () => undefined,
        );
      }).then(),
    seen: () =>
      [...new Set(told)].flatMap((name) => Array(Math.ceil(count(told, name) / 2)).fill(name)),
    async stop() {
      watcher.close();
      await release();
    },
  };
}

const count = (names: readonly string[], name: string) =>
  names.filter((each) => each === name).length;

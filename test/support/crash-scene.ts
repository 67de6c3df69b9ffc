import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { execa } from 'execa';
import type { CrashingWatchOptions } from './crashing-watch.ts';
import { bundleDaemon, type Daemon, type DaemonProgram } from './daemon.ts';
import { type OwnFileSystem, ownFileSystem } from './loop-mounts.ts';
import { seeded, seedOf } from './random.ts';
import { ensureUdev } from './udev.ts';
import { until } from './until.ts';

/** `npm run test:faults` has enough time for every effect. */
const MANY = process.env.STOWAGE_FAULTS !== undefined;
const SEED = seedOf();

/** Crash at an effect: its number, from 1, or the first of a name. */
export interface Crash {
  at: number | string;
  when: CrashingWatchOptions['when'];
}

/** Daemon of a story. A killed daemon is replaced by one that does not crash. */
export interface StoryDaemon {
  comes<T>(what: string, look: () => Promise<T | undefined>): Promise<T>;
  stop(): Promise<void>;
}

/**
 * Cluster and real loop devices of this machine, for a story that repeats while the daemon is
 * killed.
 */
export interface CrashScene<Cluster> {
  cluster: Cluster;
  /** Path of an own XFS file system. */
  folder: string;
  /** Runs `act` with the mount point of a device. */
  mounted<T>(device: string, act: (path: string) => Promise<T>): Promise<T>;
  /**
   * Runs the story with a daemon that crashes at one effect.
   * @returns the effects of that daemon
   */
  live(crash: Crash | undefined, story: (daemon: StoryDaemon) => Promise<void>): Promise<string[]>;
}

/** Sets up a scene for all tests of a file. */
export function crashScene<Cluster extends { kubeconfig: string; stop(): Promise<void> }>(
  start: (folder: string) => Promise<Cluster>,
  options: Pick<CrashingWatchOptions, 'nodes' | 'namespace'>,
): CrashScene<Cluster> {
  let stopUdev: () => Promise<void>;
  let disk: OwnFileSystem;
  let program: DaemonProgram;
  let serial = 0;

  const scene = {
    async mounted(device, act) {
      const path = join(disk.path, 'mnt');
      await mkdir(path, { recursive: true });
      await execa('mount', [device, path]);
      try {
        return await act(path);
      } finally {
        await execa('umount', [path]);
      }
    },
    async live(crash, story) {
      const log = join(disk.path, `effects-${++serial}`);
      const { kubeconfig } = scene.cluster;
      const unharmed: CrashingWatchOptions = {
        ...{
          kubeconfig,
          transport: 'local',
          ...options,
          log,
          effect: 0,
          when: crash?.when ?? 'before',
        },
      };
      const { at } = crash ?? { at: 0 };
      let daemon: Daemon = program.start({
        ...unharmed,
        ...(typeof at === 'number' ? { effect: at } : { first: at }),
      });
      try {
        await story({
          comes: (what, look) =>
            until(what, async () => {
              if (daemon.process.exitCode !== null || daemon.process.signalCode !== null) {
                expect(await daemon.ended).toBe('SIGKILL');
                daemon = program.start(unharmed);
              }
              return look();
            }),
          stop: () => daemon.stop(),
        });
      } finally {
        daemon.process.kill('SIGKILL');
        await daemon.ended;
      }
      return (await readFile(log, 'utf8')).trim().split('\n');
    },
  } as CrashScene<Cluster>;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    disk = await ownFileSystem('xfs', 2n << 30n);
    scene.folder = disk.path;
    scene.cluster = await start(disk.path);
    program = await bundleDaemon();
  });
  afterAll(async () => {
    await program?.remove();
    await scene.cluster?.stop();
    await disk?.remove();
    await stopUdev?.();
  });
  return scene;
}

/**
 * Runs once without a crash, then with a crash at every `step`-th effect; the seed selects the
 * first one. `npm run test:faults` takes every effect, and its seed selects whether the crash is
 * before or after it: between two effects, both are the same. The crashes `first` always run.
 */
export async function crashAtEach(
  step: number,
  live: (crash?: Crash) => Promise<string[]>,
  first: readonly Crash[] = [],
): Promise<void> {
  const effects = await live();
  const each = MANY ? 1 : step;
  const random = seeded(SEED);
  const crashes = effects.flatMap((_, index): Crash[] =>
    index % each === SEED % each
      ? [{ at: index + 1, when: MANY && random() < 0.5 ? 'before' : 'after' }]
      : [],
  );
  for (const crash of [...first, ...crashes]) {
    const { at, when } = crash;
    try {
      const lived = await live(crash);
      if (typeof at === 'string') expect(lived).toContain(at);
    } catch (cause) {
      const where = `seed ${SEED}, ${when} effect ${at}, ${typeof at === 'number' ? effects[at - 1] : ''}`;
      throw new Error(`${where}: ${(cause as Error).message}`, { cause });
    }
  }
  console.info(
    `killed ${crashes.length + first.length} times, at ${effects.length}: ${effects.join(' ')}`,
  );
}

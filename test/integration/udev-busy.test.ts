import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { observe } from '../../src/storage/observe.ts';
import { makeRule } from '../../src/storage/udev.ts';
import { type Disk, makeDisk } from '../support/disks.ts';
import { rawDesired } from '../support/raw-input.ts';
import { describeAsRoot } from '../support/root.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

const udevadm = (...argv: string[]) => execa('udevadm', argv);

/** Reports whether a udevadm with that argument runs. */
async function runs(argument: string): Promise<boolean> {
  const { stdout } = await execa('ps', ['-C', 'udevadm', '-o', 'args='], { reject: false });
  return stdout.includes(argument);
}

/** Returns the number of processes that wait for a lock with that command. */
async function waiting(program: string, argv: readonly string[]): Promise<number> {
  const { stdout } = await execa('ps', ['-C', program, '-o', 'args='], { reject: false });
  return stdout.split('\n').filter((line) => line === [program, ...argv].join(' ')).length;
}

/**
 * Locks a path. udev defers the events of a disk that another program has locked, and of its
 * partitions only.
 */
async function lock(path: string, how = '-x'): Promise<{ release(): Promise<unknown> }> {
  // The holder reports when it has the lock: udev also locks a disk while it processes an event.
  const holder = execa('flock', [how, path, 'sh', '-c', 'echo locked; exec cat'], {
    stdin: 'pipe',
  });
  await once(holder.stdout, 'data');
  return {
    release() {
      holder.stdin.end();
      return holder;
    },
  };
}

describeAsRoot('a device observed while udev is busy', () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let disk: Disk;
  let stopUdev: () => Promise<void>;
  const executor = createShellExecutor(createLocalShell(['n1']));

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    folder = await temporaryDirectory('udev-busy');
    disk = await makeDisk(folder.path, 'disk', 64n << 20n, 'gpt');
  });
  afterAll(async () => {
    await disk?.remove();
    await folder?.remove();
    await stopUdev?.();
  });

  // sgdisk causes this for the other partitions of a disk: they are removed and added again, then
  // udev's links.
  test('is found once udev has created its link', async () => {
    const guid = ['blkid', '-p', '-o', 'value', '-s', 'PART_ENTRY_UUID', disk.partition];
    const { stdout } = await execa(guid[0] as string, guid.slice(1));
    const devicePath = `/dev/disk/by-partuuid/${stdout}`;
    await udevadm('trigger', '--action=add', `--name-match=${disk.partition}`);
    await until('the link exists', async () => existsSync(devicePath) || undefined);

    const held = await lock(disk.path);
    await rm(devicePath);
    await udevadm('trigger', '--action=add', `--name-match=${disk.partition}`);
    let looks = 0;
    const observed = await observe(
      async (probes) => {
        looks++;
        let ended = false;
        const found = executor.observe('n1', probes).finally(() => {
          ended = true;
        });
        if (looks === 2) {
          await until('the observation waits', async () =>
            ended || (await runs(`--exit-if-exists=${devicePath}`)) ? true : undefined,
          );
          await held.release();
        }
        return found;
      },
      { ...rawDesired, devicePath },
    );
    expect(observed).toMatchObject({
      target: { is: 'device', facts: { partition: { uuid: stdout } } },
    });
    // An additional check if the partition was removed and added again between two commands.
    expect([3, 4]).toContain(looks);
  });

  test('jobs reload the udev rules one after another', async () => {
    const reload = makeRule({ uid: rawDesired.uid, mode: 'Filesystem' }, '').at(-1);
    const [program, ...argv] = reload?.argv ?? [];
    // A shared lock: a request for a shared lock would not wait.
    const held = await lock('/run/udev/.', '-s');
    const jobs = Array.from({ length: 20 }, () =>
      execa(program as string, argv, { reject: false, all: true }),
    );
    await until('all reloads wait', async () =>
      (await waiting(program as string, argv)) >= jobs.length ? true : undefined,
    );
    expect(await runs('--reload')).toBe(false);
    await held.release();
    // Other programs, including other jobs' `udevadm settle`, take no lock, and udev refuses one of
    // two requests.
    const ended = await Promise.all(jobs);
    expect(ended.map(({ exitCode }) => exitCode)).toContain(0);
    for (const { exitCode, all } of ended) {
      expect([exitCode, all]).toEqual(
        exitCode === 0 ? [0, ''] : [1, expect.stringContaining('Resource temporarily unavailable')],
      );
    }
  });
});

import { open } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { ObservationError } from '../../src/storage/probe-results.ts';
import type { DesiredRaw, Plan } from '../../src/storage/types.ts';
import { planNow, runSteps } from '../support/carry-out.ts';
import { type Disk, makeDisk, type Table } from '../support/disks.ts';
import { rawDesired } from '../support/raw-input.ts';
import { describeAsRoot } from '../support/root.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

const MIB = 1 << 20;

describeAsRoot('data written to a disk between observation and the first write', () => {
  const executor = createShellExecutor(createLocalShell(['n1']));
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let stopUdev: () => Promise<void>;
  let disk: Disk | undefined;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
  });
  afterAll(() => stopUdev?.());
  beforeEach(async () => {
    folder = await temporaryDirectory('partition-between');
  });
  afterEach(async () => {
    await execa('find', ['/var/lib/stowage/volumes', '-name', `${rawDesired.uid}.*`, '-delete'], {
      reject: false,
    });
    await disk?.remove();
    disk = undefined;
    await folder.remove();
  });

  async function wanted(desired: DesiredRaw, table: Table): Promise<DesiredRaw> {
    disk = await makeDisk(folder.path, 'disk', 64n << 20n, table);
    return { ...desired, devicePath: disk.path };
  }
  /**
   * Plans, with retries: a partition is absent for a moment if the kernel cannot read tables and
   * udev causes a re-read.
   */
  const prepare = (desired: DesiredRaw): Promise<Plan> =>
    until('the disk is observed', async () => {
      try {
        await disk?.reread();
        return await planNow(executor, 'n1', 'provision', desired);
      } catch (error) {
        if (error instanceof ObservationError) return undefined;
        throw error;
      }
    });
  const stepsOf = (made: Plan) => {
    if ('refusal' in made) throw new Error(made.refusal);
    return made.steps;
  };
  async function write(path: string, text: string, at: number): Promise<void> {
    const file = await open(path, 'r+');
    await file.write(text, at);
    await file.sync();
    await file.close();
  }
  test('new data in a partition that spec.overwrite lists as empty is refused', async () => {
    const own = await wanted(rawDesired, 'gpt');
    const { partition = '' } = disk as Disk;
    const asked = await prepare(own);
    const [, overwrite = ''] = /to "(.*)"\.$/.exec('hint' in asked ? (asked.hint ?? '') : '') ?? [];
    expect(overwrite).toMatch(/^gpt:.*;1=none;2=none$/);
    const steps = stepsOf(await prepare({ ...own, overwrite }));
    for (const put of [
      () => write(partition, 'SPDKBLOB', 2 * MIB),
      () => execa('mkfs.ext4', ['-q', '-F', partition]),
    ]) {
      await put();
      expect(await runSteps(executor, 'n1', own, steps)).toMatchObject({ state: 'guarded' });
      expect(await prepare({ ...own, overwrite })).toMatchObject({
        refusal: expect.stringMatching(
          /;1=(unknown data|ext4:[^;]+);2=none\. spec\.overwrite allows only /,
        ),
      });
    }
    expect((await execa('blkid', ['-p', '-o', 'value', '-s', 'TYPE', partition])).stdout).toBe(
      'ext4',
    );
  });
});

import { open } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { checkPreconditions } from '../../src/nodes/check-preconditions.ts';
import { unusedPreconditions } from '../../src/storage/device.ts';
import { observe, planNow } from '../support/carry-out.ts';
import { localSparse } from '../support/local-sparse.ts';
import { describeAsRoot } from '../support/root.ts';
import { until } from '../support/until.ts';

/**
 * Refusals name the holder of a device, with a command that releases it. After the command, the
 * device is detached.
 */
describeAsRoot('a sparse file whose loop device is held', () => {
  const scene = localSparse('holders');
  const { executor, carry, prepared } = scene;

  const stack = async (on: string) => (await execa('losetup', ['-f', '--show', on])).stdout;

  const planDetach = () => planNow(executor, 'n1', 'detach', scene.desired);

  /** Runs each reported command until the plan has no refusal. @returns the refusals */
  async function typeAll(): Promise<string[]> {
    const refusals: string[] = [];
    let planned = await planDetach();
    while ('refusal' in planned && refusals.length < 5) {
      const { refusal, hint, reason } = planned;
      const command = reason?.parameters.command;
      if (command === undefined) throw new Error(`no command is told: ${refusal}. ${hint}`);
      refusals.push(refusal);
      await execa('sh', ['-c', command]);
      // A loop device that udev has open at that moment is removed on close (losetup(8)).
      planned = await until(`no longer refused: ${refusal}`, async () => {
        const next = await planDetach();
        return 'refusal' in next && next.refusal === refusal ? undefined : next;
      });
    }
    return refusals;
  }

  test.each<[string, (device: string) => Promise<unknown>, RegExp[]]>([
    [
      'by a mount',
      (device) => execa('mount', [device, scene.mountPoint]),
      [/^\/dev\/loop\d+ is in use: mounted at \S+\/mnt$/],
    ],
    [
      'by a loop device on it, and one on that, which is mounted',
      async (device) => execa('mount', [await stack(await stack(device)), scene.mountPoint]),
      [
        /is in use: held by \/dev\/loop\d+, which is held by \/dev\/loop\d+, which is mounted at \S+\/mnt$/,
        /is in use: held by \/dev\/loop\d+, which is held by \/dev\/loop\d+$/,
        /is in use: held by \/dev\/loop\d+$/,
      ],
    ],
    [
      'as swap',
      async (device) => {
        await execa('mkswap', ['-q', device]);
        await execa('swapon', [device]);
      },
      [/is in use: it is swap$/],
    ],
  ])('%s', async (_what, use, refusals) => {
    await use(await prepared());
    expect(await typeAll()).toEqual(refusals.map((each) => expect.stringMatching(each)));
    expect(await carry('detach')).toMatchObject({ loops: expect.any(Array) });
    expect(await scene.faults(false)).not.toContainEqual(expect.stringContaining('loop'));
  });

  test('by a program is refused by the preconditions, and fuser names the program', async () => {
    const device = await prepared();
    const handle = await open(device, 'r');
    try {
      const seen = await observe(executor, 'n1', scene.desired);
      expect(
        await checkPreconditions(executor, 'n1', unusedPreconditions(scene.desired, seen)),
      ).toMatchObject({
        refusal: `${device} is in use: a process has it open`,
        hint: `To list the processes, run on the node: fuser -v ${device}`,
      });
      const { stderr } = await execa('fuser', ['-v', device]);
      expect(stderr).toContain(device);
      const { stdout } = await execa('fuser', [device]);
      expect(stdout.split(/\s+/)).toContain(String(process.pid));
    } finally {
      await handle.close();
    }
    await scene.expectDestroyed();
  });
});

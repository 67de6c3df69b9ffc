import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Executor } from '../../src/nodes/job.ts';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../src/nodes/transport/ssh-shell.ts';
import { directoryRecord } from '../../src/storage/directory/directory-record.ts';
import type { DesiredSparse } from '../../src/storage/types.ts';
import { carryOut, observe, planNow, runSteps } from '../support/carry-out.ts';
import { leftovers } from '../support/leftovers.ts';
import { removeTraces } from '../support/remove-traces.ts';
import { describeAsRoot } from '../support/root.ts';
import { type Sshd, startSshd } from '../support/sshd.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { sparseDesired } from '../support/volume-input.ts';
import { makeWrappers, type Wrappers } from '../support/wrappers.ts';

/**
 * Number of steps of each plan for a new volume. The test detects changes of it, and the loops
 * below use it.
 */
const PREPARE = 23;
const DESTROY = 5;

describeAsRoot('a partially executed plan', () => {
  const local = createShellExecutor(createLocalShell(['n1']));
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let wrappers: Wrappers;
  let sshd: Sshd;
  let ssh: Executor;
  let stopUdev: () => Promise<void>;
  let desired: DesiredSparse;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    folder = await temporaryDirectory('plans');
    wrappers = await makeWrappers({ programs: ['mkfs.ext4', 'dd', 'rm'] });
    sshd = await startSshd({ nodes: ['n1'], env: { PATH: wrappers.path } });
    ssh = createShellExecutor(
      createSshShell({ configFile: sshd.configFile, addressOf: () => ({}) }),
    );
  });

  afterAll(async () => {
    await ssh?.close();
    await sshd?.stop();
    await wrappers?.remove();
    await folder?.remove();
    await stopUdev?.();
  });

  beforeEach(() => {
    const uid = randomUUID();
    desired = { ...sparseDesired, uid, file: join(folder.path, uid), sizeBytes: 16n << 20n };
  });

  afterEach(async () => {
    await removeTraces(desired.uid, desired.file);
    await forgetDirectory();
  });

  /** Removes the directory's record: each volume is the first one of its directory. */
  const forgetDirectory = () => rm(directoryRecord(folder.path), { force: true });

  const mine = async (faults: Promise<string[]>) =>
    (await faults).filter((fault) => fault.includes(desired.uid));

  async function expectPrepared(executor: Executor): Promise<void> {
    const seen = await carryOut(executor, 'n1', 'provision', desired);
    expect(seen).toMatchObject({
      file: { type: 'file', sizeBytes: desired.sizeBytes },
      partial: { type: 'missing' },
      signature: { found: 'one', type: 'ext4', uuid: desired.uid },
      intent: { uid: desired.uid, file: desired.file, sizeBytes: String(desired.sizeBytes) },
      done: { sizeBytes: desired.sizeBytes },
      link: expect.stringMatching(/^7:/),
    });
    const expected = [{ uid: desired.uid, file: desired.file, loop: true }];
    expect(await mine(leftovers({ expected, directories: [folder.path] }))).toEqual([]);
  }

  async function expectDestroyed(executor: Executor): Promise<void> {
    expect(await carryOut(executor, 'n1', 'delete', desired)).toMatchObject({
      file: { type: 'missing' },
      partial: { type: 'missing' },
      intent: undefined,
      recordFiles: false,
      link: undefined,
    });
    expect(await executor.purge('n1', desired.uid)).toBe(true);
    expect(await mine(leftovers({ uids: [desired.uid], directories: [folder.path] }))).toEqual([]);
  }

  async function runPrefix(
    executor: Executor,
    operation: 'provision' | 'delete',
    count: number,
    total: number,
  ): Promise<void> {
    const planned = await planNow(executor, 'n1', operation, desired);
    if ('refusal' in planned) throw new Error(planned.refusal);
    expect(planned.steps).toHaveLength(total);
    const end = await runSteps(executor, 'n1', desired, planned.steps.slice(0, count));
    if (end.state === 'raced' && end.step.name.startsWith('attach the file')) {
      // Another test took the free loop device that the plan named.
      await carryOut(executor, 'n1', 'delete', desired);
      await forgetDirectory();
      return runPrefix(executor, operation, count, total);
    }
    expect(end).toEqual({ state: 'succeeded' });
  }

  test.each(Array.from({ length: PREPARE + 1 }, (_, count) => count))(
    'provision: after %d steps a new plan reaches the same state',
    async (count) => {
      await runPrefix(local, 'provision', count, PREPARE);
      await expectPrepared(local);
      await expectDestroyed(local);
    },
  );

  test.each(Array.from({ length: PREPARE + 1 }, (_, count) => count))(
    'provision: after %d steps a delete leaves nothing behind',
    async (count) => {
      await runPrefix(local, 'provision', count, PREPARE);
      await expectDestroyed(local);
    },
  );

  test.each(Array.from({ length: DESTROY + 1 }, (_, count) => count))(
    'delete: after %d steps a new plan leaves nothing behind',
    async (count) => {
      await expectPrepared(local);
      await runPrefix(local, 'delete', count, DESTROY);
      await expectDestroyed(local);
    },
  );

  test('is completed over ssh', async () => {
    await runPrefix(ssh, 'provision', 9, PREPARE);
    await expectPrepared(ssh);
    await runPrefix(ssh, 'delete', 2, DESTROY);
    await expectDestroyed(ssh);
  });

  test.each([
    { program: 'mkfs.ext4', call: 1, at: 'before' },
    { program: 'mkfs.ext4', call: 1, at: 'inside', ms: 0 },
    { program: 'mkfs.ext4', call: 1, at: 'inside', ms: 5 },
    { program: 'mkfs.ext4', call: 1, at: 'inside', ms: 15 },
    { program: 'mkfs.ext4', call: 1, at: 'after' },
    { program: 'dd', call: 1, at: 'before' },
    { program: 'dd', call: 2, at: 'after' },
  ] as const)('is completed after a kill: $program $call $at $ms', async (crash) => {
    // Large enough that mkfs can be killed while it runs.
    desired = { ...desired, sizeBytes: 4n << 30n };
    const planned = await planNow(ssh, 'n1', 'provision', desired);
    await wrappers.crash(crash);
    const died = await runSteps(ssh, 'n1', desired, 'steps' in planned ? planned.steps : []);
    expect(died).toMatchObject({
      state: 'died',
      step: { command: expect.stringContaining(crash.program) },
    });
    await expectPrepared(ssh);
    expect((await observe(ssh, 'n1', desired)).done).toEqual({ sizeBytes: desired.sizeBytes });
    await expectDestroyed(ssh);
  });
});

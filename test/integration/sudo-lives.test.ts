import { lstat } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Executor } from '../../src/nodes/job.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../src/nodes/transport/ssh-shell.ts';
import { deviceOf, type VolumeDevice } from '../../src/storage/device.ts';
import type { Desired } from '../../src/storage/registry.ts';
import type { VolumeOperation } from '../../src/storage/types.ts';
import { carryOut, observe, planNow } from '../support/carry-out.ts';
import { CONTENTS, type Kinds, recordedAs, setUpKinds } from '../support/kinds.ts';
import { EVERY_CASE } from '../support/lane.ts';
import { leftovers } from '../support/leftovers.ts';
import { describeAsRoot } from '../support/root.ts';
import { SPARSE } from '../support/sudo-commands.ts';
import { makeSudoUser, type SudoUser } from '../support/sudo-user.ts';
import { ensureUdev } from '../support/udev.ts';

describeAsRoot('over ssh, with no more than the sample of sudoers allows', () => {
  let user: SudoUser;
  let stopUdev: () => Promise<void>;
  let kinds: Kinds;
  let executor: Executor;
  beforeAll(async () => {
    stopUdev = await ensureUdev();
    user = await makeSudoUser();
    kinds = await setUpKinds({}, SPARSE);
  });
  beforeEach(() => {
    executor = createShellExecutor(
      createSshShell({ configFile: user.sshd.configFile, addressOf: () => ({}) }),
    );
  });
  afterEach(async () => {
    await executor.close();
    await kinds.clean();
  });
  afterAll(async () => {
    await kinds?.stop();
    await user?.remove();
    await stopUdev?.();
  });

  async function carry(operation: VolumeOperation, desired: Desired): Promise<VolumeDevice> {
    const seen = await carryOut(executor, 'n1', operation, desired);
    if (typeof seen === 'string') throw new Error(seen);
    return deviceOf(desired, seen);
  }

  const lives = (['Delete', 'Wipe'] as const).flatMap((onDelete) => [
    ...CONTENTS.map((content) => ['sparse file', content, onDelete] as const),
    ...(['disk', 'partition'] as const).flatMap((backing) =>
      (['ext4', 'Block'] as const).map((content) => [backing, content, onDelete] as const),
    ),
  ]);
  const some = lives.filter(
    ([backing, content, onDelete]) =>
      backing !== 'partition' &&
      (backing === 'disk') !== (onDelete === 'Wipe') &&
      content === 'Block',
  );
  test.each(EVERY_CASE ? lives : some)(
    'a %s with %s and onDelete %s completes its life cycle',
    async (backing, content, onDelete) => {
      await user.allow([], backing === 'sparse file' ? 'sparse files alone' : 'all');
      const desired = await kinds.desired(backing, content, { onDelete });
      const { link, identity } = await carry('provision', desired);
      await kinds.write(desired, link, 'kept');
      let recorded = recordedAs(desired, identity);
      await carry('detach', recorded);
      await carry('attach', recorded);
      if (recorded.type === 'sparse') {
        recorded = { ...recorded, sizeBytes: recorded.sizeBytes + (16n << 20n) };
        expect((await carry('attach', recorded)).device?.sizeBytes).toBe(recorded.sizeBytes);
      }
      expect(await kinds.read(desired, link)).toBe('kept');
      await carry('delete', recorded);
      expect(await planNow(executor, 'n1', 'delete', recorded)).toEqual({ steps: [] });
      await expect(lstat(link)).rejects.toThrow('ENOENT');
      const left = await leftovers({ uids: [desired.uid] });
      expect(left.filter((fault) => fault.includes(desired.uid))).toEqual([]);
    },
  );

  test('a partitioned disk is overwritten if spec.overwrite names its content', async () => {
    await user.allow([]);
    const { path } = await kinds.disk(undefined, 'gpt');
    const desired = kinds.onDevice(path, 'Block');
    const seen = await observe(executor, 'n1', desired);
    const content =
      seen.type === 'raw' && seen.target.is === 'device' ? seen.target.facts.content : '';
    expect(content).toMatch(/^gpt:.*;1=none;2=none$/);
    const { identity } = await carry('provision', { ...desired, overwrite: content });
    await carry('delete', recordedAs(desired, identity));
  });
});

import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { DesiredRaw, VolumeOperation } from '../../src/storage/types.ts';
import { carryOut, planNow, runSteps } from '../support/carry-out.ts';
import { CONTENTS, type Kinds, recordedAs, setUpKinds } from '../support/kinds.ts';
import { EVERY_CASE } from '../support/lane.ts';
import { describeAsRoot } from '../support/root.ts';
import { sha256 } from '../support/signatures.ts';

const MIB = 1 << 20;

/** Writes a signature as of SPDK or a database, which blkid does not know. */
const write = (device: string, at: number) =>
  execa('dd', [`of=${device}`, 'bs=1', `seek=${at}`, 'conv=notrunc,fsync', 'status=none'], {
    input: 'SPDKBLOB',
  });

describeAsRoot('data found on a device by a precondition', () => {
  let kinds: Kinds;
  beforeAll(async () => {
    kinds = await setUpKinds();
  });
  afterEach(() => kinds.clean());
  afterAll(() => kinds?.stop());

  const node = () => [kinds.executors.local, 'n1'] as const;

  async function guarded(
    operation: VolumeOperation,
    desired: DesiredRaw,
    between: () => Promise<unknown>,
  ) {
    const planned = await planNow(...node(), operation, desired);
    if ('refusal' in planned) throw new Error(planned.refusal);
    await between();
    return runSteps(...node(), desired, planned.steps);
  }

  test.each(EVERY_CASE ? CONTENTS : CONTENTS.slice(0, 1))(
    'later provision attempts do not overwrite data that a precondition found: %s',
    async (content) => {
      const { path } = await kinds.disk();
      const desired = kinds.onDevice(path, content);
      const end = await guarded('provision', desired, () => write(path, 0));
      expect(end).toMatchObject({
        state: 'guarded',
        refusal: expect.stringContaining('is not blank: data appeared'),
      });
      const before = await sha256(path);
      expect(await carryOut(...node(), 'provision', desired)).toBe(`${path} contains unknown data`);
      expect(await sha256(path)).toBe(before);
      const overwrite = 'unknown data';
      expect(await carryOut(...node(), 'provision', { ...desired, overwrite })).toHaveProperty(
        'done',
      );
    },
  );

  test('spec.overwrite for earlier data does not allow overwriting new data', async () => {
    const { path } = await kinds.disk();
    await execa('mkfs.xfs', ['-q', '-f', path]);
    const desired = kinds.onDevice(path, 'ext4');
    const refusal = await carryOut(...node(), 'provision', desired);
    const overwrite = String(refusal).split(' contains ')[1];
    const wanted = { ...desired, overwrite };
    const end = await guarded('provision', wanted, async () => {
      await execa('wipefs', ['-a', path]);
      await write(path, 100 * MIB);
    });
    expect(end).toMatchObject({ state: 'guarded' });
    const before = await sha256(path);
    expect(await carryOut(...node(), 'provision', wanted)).toContain(
      `${path} contains unknown data`,
    );
    expect(await sha256(path)).toBe(before);
  });

  test('later wipe attempts do not overwrite data that a precondition found', async () => {
    const { path } = await kinds.disk();
    const desired = kinds.onDevice(path, 'ext4');
    const seen = await carryOut(...node(), 'provision', desired);
    if (typeof seen === 'string' || seen.type !== 'raw' || seen.target.is !== 'device')
      throw new Error(String(seen));
    const gone = { ...recordedAs(desired, seen.target.facts.identity), onDelete: 'Wipe' } as const;
    const end = await guarded('delete', gone, async () => {
      await execa('wipefs', ['-a', path]);
      await write(path, 0);
    });
    expect(end).toMatchObject({ state: 'guarded' });
    const before = await sha256(path);
    expect(await carryOut(...node(), 'delete', gone)).toContain(
      ', not what was created for this Volume',
    );
    expect(await sha256(path)).toBe(before);
  });
});

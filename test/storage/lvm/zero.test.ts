import { describe, expect, test } from '@jest/globals';
import { reason } from '../../../src/api/reasons.ts';
import { unfinishedTag } from '../../../src/storage/lvm/names.ts';
import { cancelPath } from '../../../src/storage/records.ts';
import type { DesiredLvm, ObservedLvm, VolumeOperation } from '../../../src/storage/types.ts';
import { begun, dm, GIB, intent, lv, lvmBlock, lvmNode, pool } from '../../support/lvm-input.ts';
import { plan } from '../../support/lvm-words.ts';
import { UID } from '../../support/volume-input.ts';

const block: DesiredLvm = { ...lvmBlock, zeroed: true };
const UNFINISHED = unfinishedTag(UID);
const half = { ...lv, tags: [UNFINISHED] };

const stepsOf = (
  wanted: DesiredLvm,
  observed: ObservedLvm,
  operation: VolumeOperation = 'provision',
) => {
  const made = plan(operation, wanted, observed, 0);
  if ('refusal' in made) throw new Error(made.refusal);
  return made.steps;
};
const programs = (...of: Parameters<typeof stepsOf>): string[] =>
  stepsOf(...of).map(({ argv }) => argv.slice(0, 2).join(' '));
const isDd = ({ argv }: { argv: readonly string[] }) => argv[1] === 'if=/dev/zero';
const refusalOf = (wanted: DesiredLvm, observed: ObservedLvm): string => {
  const made = plan('provision', wanted, observed, 0);
  return 'refusal' in made ? made.refusal : '';
};

describe('a zeroed logical volume', () => {
  test('is first created as unfinished, without further steps', () => {
    const steps = stepsOf(block, lvmNode());
    const last = steps.at(-1)?.argv ?? [];
    expect(last[0]).toBe('lvcreate');
    expect(last).toContain(UNFINISHED);
    expect(steps.filter(isDd)).toEqual([]);
  });

  test('is overwritten with zeros completely, then tagged and recorded as done', () => {
    const steps = stepsOf(block, begun(dm, { volumes: [half] }));
    const parts = steps.filter(isDd);
    let at = 0n;
    for (const { argv } of parts) {
      const [seek, count] = ['seek=', 'count='].map((word) =>
        BigInt(argv.find((each) => each.startsWith(word))?.slice(word.length) ?? ''),
      );
      expect(argv).toContain('of=/dev/dm-3');
      expect(seek).toBe(at);
      at += count ?? 0n;
    }
    expect(at).toBe(GIB);
    const after = steps.slice(steps.lastIndexOf(parts.at(-1) as never) + 1);
    expect(after[0]?.argv).toEqual(
      expect.arrayContaining(['--deltag', UNFINISHED, '--addtag', `stowage.dev/uid=${UID}`]),
    );
    expect(after.some(({ argv }) => argv.join(' ').includes('.done'))).toBe(true);
  });

  test('has its use, owner and cancellation checked before each part', () => {
    for (const { preconditions } of stepsOf(block, begun(dm, { volumes: [half] })).filter(isDd)) {
      const asked = preconditions.map(({ argv }) => argv.join(' '));
      expect(asked).toContain(`test ! -e ${cancelPath(UID)}`);
      expect(asked).toContainEqual(expect.stringMatching(/^losetup -j \/dev\/dm-3/));
      expect(asked).toContainEqual(expect.stringMatching(/lv_tags vg0\/data1$/));
      expect(asked).toContainEqual(expect.stringContaining('/sys/class/block/dm-3/dm/uuid'));
    }
    const open = begun(dm, { volumes: [{ ...half, open: true }] });
    expect(plan('provision', block, open, 0)).toMatchObject({
      reason: {
        code: 'UnfinishedInUse',
        parameters: { uses: 'a process has it open', look: 'fuser -v /dev/dm-3' },
      },
      refusal: expect.stringMatching(/is in use: a process has it open$/),
      hint: 'It is removed once nothing uses it. To list the processes, run on the node: fuser -v /dev/dm-3',
    });
  });

  test('is refused if it contains data', () => {
    const odd = { ...dm, content: 'gpt:of-whom' };
    expect(refusalOf(block, begun(odd, { volumes: [half] }))).toMatch(/contains gpt:of-whom/);
  });

  test('is written again from its first byte after an interrupted attempt', () => {
    const again = stepsOf(block, begun(dm, { volumes: [half], intent }));
    expect(again.find(isDd)?.argv).toContain('seek=0');
    const inactive = { ...half, active: false, device: undefined };
    const slept = begun(dm, { volumes: [inactive], target: { is: 'missing' } });
    expect(programs(block, slept)).toContain('lvchange --activate');
  });

  test('is removed and created again if it has another size', () => {
    const small = { ...half, sizeBytes: GIB / 2n };
    expect(programs(block, begun(dm, { volumes: [small] }))).toEqual(
      expect.arrayContaining(['lvremove --yes', 'lvcreate --config']),
    );
  });

  test('is only recorded if it is complete', () => {
    const steps = stepsOf(block, begun(dm, { intent: { ...intent, filling: true } }));
    expect(steps.filter(isDd)).toEqual([]);
    expect(steps.some(({ argv }) => argv.join(' ').includes('.done'))).toBe(true);
  });

  test('is refused if an earlier version began it without zeros', () => {
    expect(plan('provision', block, begun(dm), 0)).toMatchObject({
      reason: { code: 'BegunWithoutZeros' },
      refusal: expect.stringMatching(
        /^an earlier version of Stowage created the logical volume .* without writing zeros to it$/,
      ),
    });
  });

  test('is removed if the Volume is deleted before it is complete', () => {
    const gone = programs(
      { ...block, onDelete: 'Delete' },
      begun(dm, { volumes: [half] }),
      'delete',
    );
    expect(gone).toContain('lvremove --yes');
  });

  test('needs a thin pool that zeroes blocks', () => {
    const thin = { ...block, thinPool: 'pool' };
    const node = (zeroes: boolean) => lvmNode({ volumes: [{ ...pool, zeroes }], free: [] });
    expect(programs(thin, node(true))).toContain('lvcreate --name');
    expect(stepsOf(thin, node(true)).filter(isDd)).toEqual([]);
    expect(plan('provision', thin, node(false), 0)).toMatchObject({
      reason: reason('ThinPoolNotZeroed', { pool: 'vg0/pool' }),
      refusal: expect.stringMatching(/^the thin pool vg0\/pool was created with --zero n/),
    });
    expect(refusalOf({ ...thin, zeroed: false }, node(false))).toBe('');
  });
});

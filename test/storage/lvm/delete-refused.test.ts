import { describe, expect, test } from '@jest/globals';
import { type ReasonCode, reason } from '../../../src/api/reasons.ts';
import type { DesiredLvm, ObservedLvm } from '../../../src/storage/types.ts';
import { dm, ext4, lv, lvmMade, madeAs, madeIn, pool, thinLv } from '../../support/lvm-input.ts';
import { plan } from '../../support/lvm-words.ts';
import {
  away,
  blockOf,
  copy,
  deleting,
  foreign,
  inactive,
  others,
  outcome,
  UNMARKED,
  untagged,
  wiping,
} from './delete-outcome.ts';

test.each([deleting, wiping])(
  '$onDelete with only a node’s records is refused while two logical volumes have its tag',
  (wanted) => {
    const forgotten = { ...wanted, recorded: false, identity: undefined };
    expect(outcome(forgotten, lvmMade(ext4, { volumes: [copy, lv] }))).toMatch(
      /^several logical volumes have the tag/,
    );
  },
);

describe.each([deleting, wiping])('$onDelete of a volume that is only in the status', (wanted) => {
  test.each<[string, DesiredLvm, ObservedLvm]>([
    ['Block', blockOf(wanted), lvmMade(foreign, { ...UNMARKED, volumes: [untagged], others })],
    ['Filesystem', wanted, lvmMade(ext4, { ...UNMARKED, volumes: [untagged], others })],
    ['with its tag', blockOf(wanted), lvmMade(dm, { ...UNMARKED, others })],
    [
      'inactive',
      blockOf(wanted),
      lvmMade(dm, { ...away, ...UNMARKED, volumes: [{ ...inactive, tags: [] }], others }),
    ],
  ])('%s: keeps the logical volume that another Volume has on record', (_, desired, observed) => {
    expect(outcome(desired, observed)).toEqual([]);
  });

  const prod = { ...untagged, name: 'prod' };
  test.each<[string, ObservedLvm, RegExp, ReasonCode, DesiredLvm?]>([
    [
      'also recorded for another Volume',
      lvmMade(dm, { others }),
      /^vg0\/data1 is also on record for another Volume, with the UID b$/,
      'LogicalVolumeOfAnother',
      blockOf(wanted),
    ],
    [
      'another name',
      lvmMade(foreign, { ...UNMARKED, volumes: [prod] }),
      /nothing on the node shows that/,
      'LogicalVolumeUnmarked',
      blockOf(wanted),
    ],
    [
      'another name, empty',
      lvmMade(dm, { ...UNMARKED, volumes: [prod] }),
      /nothing on the node shows that/,
      'LogicalVolumeUnmarked',
    ],
    [
      'its name, and empty',
      lvmMade(dm, { ...UNMARKED, volumes: [untagged] }),
      /nothing on the node shows that/,
      'LogicalVolumeUnmarked',
    ],
    [
      'another name, and inactive',
      lvmMade(dm, { ...away, ...UNMARKED, volumes: [{ ...prod, active: false }] }),
      /nothing on the node shows that/,
      'LogicalVolumeUnmarked',
    ],
  ])('%s: is refused', (_, observed, refusal, code, desired = wanted) => {
    expect(outcome(desired, observed)).toMatch(refusal);
    expect(plan('delete', desired, observed, 0)).toMatchObject({ reason: { code } });
  });

  test('is refused if only the tag shows the owner, and suggests Retain', () => {
    const nothing = { ...wanted, recorded: false, identity: undefined };
    expect(plan('delete', nothing, lvmMade(ext4, UNMARKED), 0)).toMatchObject({
      reason: reason('LogicalVolumeUnknown', { volume: 'vg0/data1' }),
      refusal: expect.stringMatching(/^the logical volume vg0\/data1 has the tag of this Volume/),
      hint: expect.stringContaining('Retain'),
    });
  });
});

test('a wipe verifies the device-mapper UUID before each part', () => {
  const made = plan('delete', wiping, lvmMade(ext4, { volumes: [lv] }), 0);
  const writes = 'steps' in made ? made.steps.filter(({ argv }) => argv[1] === 'if=/dev/zero') : [];
  expect(writes).toHaveLength(16);
  for (const { preconditions } of writes) {
    expect(preconditions).toContainEqual(
      expect.objectContaining({
        argv: ['cat', '/sys/class/block/dm-3/dm/uuid'],
        expect: { exit: 0, stdout: { is: dm.dmUuid } },
      }),
    );
  }
});

describe.each([deleting, wiping])('$onDelete of a logical volume', (wanted) => {
  test.each<[string, ObservedLvm, RegExp, ReasonCode]>([
    [
      'the group is missing',
      lvmMade(ext4, { groups: [], volumes: [] }),
      /^there is no volume group vg0/,
      'VolumeGroupMissing',
    ],
    [
      'another group',
      madeIn({ uuid: 'B' }),
      /is not the one of this Volume/,
      'VolumeGroupExchanged',
    ],
    [
      'a disk of the group is missing',
      madeIn({ partial: true }),
      /^retryable: .* is missing$/,
      'VolumeGroupPartial',
    ],
    ['exported', madeIn({ exported: true }), /is exported$/, 'VolumeGroupExported'],
    [
      'another logical volume with its name',
      madeAs({ uuid: 'B', tags: [] }),
      /is not the logical volume that was created/,
      'LogicalVolumeNotOurs',
    ],
    [
      'with snapshots',
      madeAs({ kind: 'o' }),
      /has snapshots .* would be removed with it$/,
      'LogicalVolumeNotAlone',
    ],
    [
      'converted to a pool',
      madeAs({ kind: 't' }),
      /would be removed with it$/,
      'LogicalVolumeNotAlone',
    ],
    [
      'also the tag of another Volume',
      madeAs({ tags: [...lv.tags, 'stowage.dev/uid=other'] }),
      /also has the tag of another Volume, with the UID other$/,
      'TagOfAnother',
    ],
    [
      'thin, with another file system',
      lvmMade(foreign, { volumes: [thinLv, pool] }),
      /contains xfs:x, which does not belong to this Volume$/,
      'LogicalVolumeCarriesOther',
    ],
    [
      'another file system',
      lvmMade(foreign),
      /contains xfs:x, which does not belong to this Volume$/,
      'LogicalVolumeCarriesOther',
    ],
    [
      'mounted',
      lvmMade(ext4, { mounts: new Map([['253:3', ['/a']]]) }),
      /^retryable: .*in use: mounted at \/a$/,
      'LogicalVolumeInUse',
    ],
    ['open', madeAs({ open: true }), /^retryable: .*a process has it open$/, 'LogicalVolumeInUse'],
    [
      'held by a stacked device',
      lvmMade(ext4, { devices: [ext4, { ...dm, name: 'dm-9', parent: 'dm-3', type: 'crypt' }] }),
      /^retryable: .* held by \/dev\/dm-9 \(crypt\)$/,
      'LogicalVolumeInUse',
    ],
  ])('%s: is refused', (_, observed, refusal, code) => {
    expect(outcome(wanted, observed)).toMatch(refusal);
    const made = plan('delete', wanted, observed, 0);
    expect(made).toMatchObject({ reason: { code } });
    if ('refusal' in made && !made.retryable) expect(made.hint).toMatch(/Retain|--deltag/);
  });
});

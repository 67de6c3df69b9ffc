import { describe, expect, test } from '@jest/globals';
import { messageOf, type ReasonCode, reason, shownAs } from '../../../src/api/reasons.ts';
import type { DesiredLvm, ObservedLvm } from '../../../src/storage/types.ts';
import {
  begun,
  dm,
  ext4,
  free,
  GIB,
  group,
  intent,
  lv,
  lvmBlock,
  lvmDesired,
  lvmMade,
  lvmNode,
  MIB,
  madeAs,
  pool,
  thin,
  thinLv,
} from '../../support/lvm-input.ts';
import { plan } from '../../support/lvm-words.ts';
import { outcome, stale, xfs } from './provision-outcome.ts';

describe('provisioning a logical volume', () => {
  const odd = (more: object) => lvmNode({ groups: [{ ...group, ...more }] });
  test.each<[string, ObservedLvm, RegExp, ReasonCode, DesiredLvm?]>([
    [
      'no udev',
      lvmNode({ udev: false }),
      /^retryable: udev is not running on the node, so .*by-id\/stowage-/,
      'UdevAbsent',
    ],
    [
      'no udev, Block',
      lvmNode({ udev: false }),
      /^retryable: udev is not running .*by-id\/stowage-/,
      'UdevAbsent',
      lvmBlock,
    ],
    ['no group', lvmNode({ groups: [] }), /^there is no volume group vg0/, 'VolumeGroupMissing'],
    [
      'no group any more: its disk may come late',
      lvmNode({ groups: [], intent }),
      /^retryable: there is no volume group vg0/,
      'VolumeGroupMissing',
    ],
    [
      'two groups',
      lvmNode({ groups: [group, { ...group, uuid: 'B' }] }),
      /several volume groups named vg0: abcdef-.* and B/,
      'VolumeGroupsOfOneName',
    ],
    [
      'another group',
      lvmNode({ groups: [{ ...group, uuid: 'B' }], intent }),
      /is not the one of this Volume/,
      'VolumeGroupExchanged',
    ],
    ['exported', odd({ exported: true }), /is exported$/, 'VolumeGroupExported'],
    ['shared', odd({ shared: true }), /clustered or shared/, 'VolumeGroupShared'],
    [
      'partial: its disk may come late after a reboot',
      odd({ partial: true }),
      /^retryable: a physical volume of the volume group vg0 is missing/,
      'VolumeGroupPartial',
    ],
    [
      'partial, after provisioning began',
      begun(dm, { groups: [{ ...group, partial: true }] }),
      /^retryable: a physical volume of the volume group vg0 is missing/,
      'VolumeGroupPartial',
    ],
    ['read-only', odd({ readOnly: true }), /is read-only$/, 'VolumeGroupReadOnly'],
    [
      'no room',
      odd({ freeExtents: 255n }),
      /^the volume group vg0 has 1069547520 bytes left, and the Volume needs 1073741824$/,
      'VolumeGroupFull',
    ],
    [
      'room only on disks that are not allocatable',
      lvmNode({ free: [{ ...free, count: 100n }] }),
      /^the volume group vg0 has 419430400 bytes left, and the Volume needs 1073741824$/,
      'VolumeGroupFull',
    ],
    [
      'two logical volumes with its tag',
      begun(dm, { volumes: [lv, { ...lv, name: 'copy', uuid: 'B' }] }),
      /^several logical volumes have the tag of this Volume: vg0\/data1, vg0\/copy$/,
      'TagOnSeveral',
    ],
    [
      'also the tag of another Volume',
      begun(dm, { volumes: [{ ...lv, tags: [...lv.tags, 'stowage.dev/uid=other'] }] }),
      /^the logical volume vg0\/data1 also has the tag of another Volume, with the UID other$/,
      'TagOfAnother',
    ],
    [
      'xfs too small',
      lvmNode(),
      /300Mi/,
      'FileSystemTooSmall',
      { ...lvmDesired, fs: { type: 'xfs', options: [] }, sizeBytes: MIB },
    ],
    [
      'a signature in the extents',
      lvmNode({ free: [stale] }),
      /^the free extents of vg0 for the logical volume contain ext4:OLD \(on \/dev\/vdb\)$/,
      'FreeExtentsCarryData',
    ],
    [
      'only the annotation of MetalK8s',
      lvmNode({ free: [stale] }),
      /contain ext4:OLD .*force-lvcreate does not name what/,
      'FreeExtentsCarryData',
      { ...lvmDesired, forced: true },
    ],
    [
      'consent to something else, also with the annotation',
      lvmNode({ free: [stale] }),
      /spec\.overwrite allows only "ext4" to be destroyed$/,
      'FreeExtentsCarryData',
      { ...lvmDesired, forced: true, overwrite: 'ext4' },
    ],
    [
      'several unnamed signatures in the extents, despite consent',
      lvmNode({ free: [free, { ...free, content: 'ambivalent', blkidExit: 8 }] }),
      /contain more than one signature, and blkid does not name them$/,
      'FreeExtentsAmbivalent',
      { ...lvmDesired, overwrite: 'ambivalent' },
    ],
    [
      'another logical volume has the name',
      begun(dm, { volumes: [{ ...lv, tags: [] }], intent: undefined, recordFiles: false }),
      /^a logical volume vg0\/data1 already exists, and nothing shows that it was created for this Volume$/,
      'LogicalVolumeExists',
    ],
    [
      'another logical volume has the name, despite an intent record',
      begun(dm, { volumes: [{ ...lv, tags: [] }] }),
      /^a logical volume vg0\/data1 already exists/,
      'LogicalVolumeExists',
    ],
    [
      'the logical volume of another Volume has the name',
      begun(dm, { volumes: [{ ...lv, tags: ['stowage.dev/uid=other'] }] }),
      /^a logical volume vg0\/data1 already exists/,
      'LogicalVolumeExists',
    ],
    [
      'its tag without a record: the logical volume may hold data',
      begun(dm, { intent: undefined, recordFiles: false }),
      /was created for this Volume, and no record on the node shows how far/,
      'LogicalVolumeUnrecorded',
      lvmBlock,
    ],
    [
      'a logical volume outside the requested pool',
      begun(),
      /is not thin, but the Volume requests the thin pool pool/,
      'BegunInAnotherPool',
      thin,
    ],
    [
      'a record with another device',
      begun(dm, { intent: { ...intent, device: { path: '/dev/sdb', identity: '' } } }),
      /the node's record for this Volume has \/dev\/sdb, not/,
      'RecordOfAnotherPlace',
    ],
    [
      'a signature in the new logical volume',
      begun(xfs),
      /^\/dev\/dm-3 contains xfs:x$/,
      'DeviceCarriesData',
    ],
    [
      'a signature in the new logical volume, with the annotation',
      begun(xfs),
      /contains xfs:x\. The annotation force-lvcreate does not name/,
      'DeviceCarriesData',
      { ...lvmDesired, forced: true },
    ],
    [
      'in use already',
      begun(dm, { mounts: new Map([['253:3', ['/a']]]) }),
      /in use: mounted at \/a/,
      'DeviceNotFree',
    ],
    [
      'a partial logical volume',
      begun(dm, { volumes: [{ ...lv, health: 'p' }] }),
      /^retryable: a physical volume of .* is missing/,
      'LogicalVolumePartial',
    ],
  ])('is refused: %s', (_, observed, refusal, code, wanted = lvmDesired) => {
    expect(outcome(wanted, observed)).toMatch(refusal);
    expect(plan('provision', wanted, observed, 0)).toMatchObject({ reason: { code } });
  });

  test.each([
    ['a signature in the extents', [stale], 'FreeExtentsCarryData'],
    [
      'several signatures in one place',
      [{ ...free, content: 'ambivalent', blkidExit: 8 }],
      'FreeExtentsCarryData',
    ],
    ['too few extents', [{ ...free, count: 100n }], undefined],
  ])('maps the refusal to the reason in the Volume’s status: %s', (_, extents, shows) => {
    const made = plan('provision', lvmDesired, lvmNode({ free: extents }), 0);
    expect('refusal' in made && shownAs(made.reason)).toBe(shows);
  });

  test('reports the content, its place and the consent as parameters', () => {
    const made = (more: Partial<DesiredLvm>) =>
      plan('provision', { ...lvmDesired, ...more }, lvmNode({ free: [stale] }), 0);
    const found = { group: 'vg0', content: 'ext4:OLD', places: '/dev/vdb' };
    const carried = { ...found, overwrite: '"ext4:OLD"' };
    expect(made({})).toMatchObject({ reason: reason('FreeExtentsCarryData', carried) });
    const annotation = messageOf(reason('AnnotationIsNoConsent'));
    expect(made({ forced: true })).toMatchObject({
      reason: reason('FreeExtentsCarryData', { ...carried, annotation }),
    });
    expect(made({ overwrite: 'xfs' })).toMatchObject({
      reason: reason('FreeExtentsCarryData', { ...carried, consent: '"xfs"' }),
    });
  });
});

describe('provisioning in a thin pool', () => {
  const inPool = (more: object) => lvmNode({ volumes: [{ ...pool, ...more }], free: [] });
  test.each<[string, ObservedLvm, RegExp, ReasonCode]>([
    [
      'that is missing',
      lvmNode({ free: [] }),
      /^there is no thin pool vg0\/pool$/,
      'ThinPoolMissing',
    ],
    [
      'that is not a thin pool',
      inPool({ kind: '-' }),
      /^vg0\/pool is not a thin pool$/,
      'NoThinPool',
    ],
    [
      'without room',
      inPool({ dataPercent: 99 }),
      /has 21474837 bytes left of 2147483648, and a new volume of/,
      'ThinPoolFull',
    ],
    [
      'without room for metadata',
      inPool({ metadataPercent: 90 }),
      /metadata .* is 90 percent full$/,
      'ThinPoolMetadataFull',
    ],
    ['out of space', inPool({ health: 'D' }), /is out of space$/, 'ThinPoolOutOfSpace'],
    [
      'with read-only metadata',
      inPool({ health: 'M' }),
      /has read-only metadata$/,
      'ThinPoolMetadataReadOnly',
    ],
    ['that has failed', inPool({ health: 'F' }), /has failed$/, 'ThinPoolFailed'],
    ['that waits for repair', inPool({ health: 'c' }), /is unhealthy/, 'ThinPoolUnwell'],
    [
      'that reports no usage',
      inPool({ dataPercent: undefined }),
      /LVM does not report the usage of the thin pool/,
      'ThinPoolSilent',
    ],
  ])('is refused in one %s', (_, observed, refusal, code) => {
    expect(outcome(thin, observed)).toMatch(refusal);
    expect(plan('provision', thin, observed, 0)).toMatchObject({ reason: { code } });
  });

  test.each([{ dataPercent: 99 }, { health: 'D' }])(
    'creates no file system once the pool is full (%j)',
    (more) => {
      const observed = begun(dm, { volumes: [thinLv, { ...pool, ...more }] });
      expect(outcome(thin, observed)).toMatch(
        /^the thin pool vg0\/pool (has 21474837 bytes left|is out of space)/,
      );
    },
  );

  test('allows overcommitment as long as mkfs itself fits', () => {
    const made = expect.arrayContaining([expect.stringMatching(/^lvcreate /)]);
    expect(outcome({ ...thin, mode: 'Block', sizeBytes: 100n * GIB }, inPool({}))).toEqual(made);
    expect(outcome({ ...thin, sizeBytes: 50n * GIB }, inPool({}))).toEqual(made);
    expect(outcome({ ...thin, sizeBytes: 100n * GIB }, inPool({}))).toMatch(/needs 2214592512$/);
  });
});

describe('a provisioned logical volume', () => {
  test.each<[string, ObservedLvm, RegExp, ReasonCode]>([
    [
      'the logical volume is gone',
      lvmMade(ext4, { volumes: [], target: { is: 'missing' } }),
      /vg0\/data1 is missing$/,
      'LogicalVolumeMissing',
    ],
    [
      'the group is gone',
      lvmMade(ext4, { groups: [], volumes: [] }),
      /no volume group vg0/,
      'VolumeGroupMissing',
    ],
    [
      'another logical volume has its name',
      madeAs({ tags: [] }),
      /is now another logical volume/,
      'LogicalVolumeExchanged',
    ],
    [
      'its content is missing',
      lvmMade(dm),
      /should contain what was created .* nothing was found$/,
      'MadeContentMissing',
    ],
    ['its content differs', lvmMade(xfs), /xfs:x was found$/, 'MadeContentMissing'],
  ])('is refused and not created again: %s', (_, observed, refusal, code) => {
    for (const wanted of [lvmDesired, { ...lvmDesired, recorded: true }]) {
      expect(outcome(wanted, observed)).toMatch(refusal);
      expect(plan('provision', wanted, observed, 0)).toMatchObject({ reason: { code } });
    }
  });

  test('needs no further steps', () => {
    expect(outcome(lvmDesired, lvmMade())).toEqual([]);
  });
});

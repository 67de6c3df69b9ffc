import { expect, test } from '@jest/globals';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import type { LogicalVolume } from '../../../src/storage/lvm/facts.ts';
import { tagOf, unfinishedTag } from '../../../src/storage/lvm/names.ts';
import {
  type ObservedThinSnapshot,
  planThinSnapshot,
  readThin,
  thinBytes,
  thinProbes,
} from '../../../src/storage/lvm/snapshot.ts';
import type { DesiredLvm, Plan } from '../../../src/storage/types.ts';
import { dm, GIB, group, pool, thinLv, VG_UUID } from '../../support/lvm-input.ts';
import { VIEW } from '../../support/lvm-reports.ts';
import { stepsWithoutDisks } from '../../support/lvm-words.ts';
import {
  left,
  SNAP,
  SNAP_UID,
  snapLv,
  snapped,
  thinOrigin,
  wantedSnap,
} from '../../support/thin-input.ts';

const steps = (made: Plan) => {
  if ('refusal' in made) throw new Error(made.refusal);
  return stepsWithoutDisks(made.steps);
};
const commands = (made: Plan) =>
  steps(made).map(({ argv }) => (argv[0] === 'sh' ? [argv[3], ...argv.slice(5)] : argv).join(' '));
const take = (observed: ObservedThinSnapshot, volume: Partial<DesiredLvm> = {}) =>
  planThinSnapshot('take', { ...wantedSnap, volume: { ...thinOrigin, ...volume } }, observed);
const remove = (observed: ObservedThinSnapshot) =>
  planThinSnapshot('delete', { ...wantedSnap, volume: undefined }, observed);
const has = (...volumes: LogicalVolume[]): ObservedThinSnapshot => ({ ...snapped, volumes });

const FINISH = `lvchange --deltag ${unfinishedTag(SNAP_UID)} --addtag ${tagOf(SNAP_UID)} vg0/${SNAP}`;

test('a thin snapshot is taken by one command, and then tagged as finished', () => {
  const made = take(has(thinLv, pool));
  expect(commands(made)).toEqual([
    `stowage-thin vg0/data1 ${thinOrigin.uid} ${SNAP} ${SNAP_UID} r`,
    FINISH,
  ]);
  const preconditions = steps(made)[0]?.preconditions.map(({ argv }) => argv.join(' ')) ?? [];
  expect(preconditions).toEqual([
    expect.stringMatching(/data_percent<\d+\.\d\d&&metadata_percent<90.* vg0\/pool$/),
    'lvs --noheadings -o lv_uuid vg0/data1',
  ]);
  expect(steps(made)[1]?.preconditions).toMatchObject([
    { expect: { stdout: { has: `  ${unfinishedTag(SNAP_UID)}`, lacks: ',' } } },
  ]);
});

test('an existing snapshot is complete, even if its volume and pool are gone', () => {
  const groups = [{ ...group, partial: true }];
  expect(take({ ...has(snapLv), groups })).toEqual({ steps: [] });
  expect(thinBytes(wantedSnap, has(snapLv))).toBe(GIB);
});

test.each<[string, LogicalVolume[]]>([
  ['is missing', [thinLv, pool]],
  ['is unfinished', [left, thinLv, pool]],
  ['has another name', [{ ...snapLv, name: 'data7' }]],
  ['has no tag', [{ ...snapLv, tags: [] }]],
  ['is of another kind', [{ ...snapLv, kind: '-' }]],
])('thinBytes finds no snapshot if the logical volume %s', (_, volumes) => {
  expect(thinBytes(wantedSnap, has(...volumes))).toBeUndefined();
});

const REMOVED = [
  `stowage-lvm-uuid vg0/${SNAP} ${SNAP_UID} leave`,
  `lvremove --yes --select lv_uuid=${snapLv.uuid}&&lv_tags={${unfinishedTag(SNAP_UID)}}&&lv_attr=~^[-VrRmMC]...- vg0/${SNAP}`,
];
test.each<[string, LogicalVolume[], string[]]>([
  ['exists', [left, thinLv, pool], []],
  [
    'left the pool and the origin suspended',
    [left, { ...thinLv, suspended: true }, { ...pool, suspended: true }],
    ['lvchange --refresh vg0/pool', 'lvchange --refresh vg0/data1'],
  ],
  ['has lost its origin', [{ ...left, origin: undefined }, pool], []],
])(
  'an unfinished snapshot that %s is removed before a retry and on deletion',
  (_, volumes, first) => {
    expect(commands(take(has(...volumes)))).toEqual([...first, ...REMOVED]);
    expect(commands(remove(has(...volumes)))).toEqual([...first, ...REMOVED]);
  },
);

test.each<[string, ObservedThinSnapshot, Partial<DesiredLvm>, RegExp, ReasonCode, boolean?]>([
  [
    'missing',
    has(pool),
    {},
    /^the logical volume vg0\/data1 of data1 is missing$/,
    'ThinOriginMissing',
  ],
  [
    'exchanged',
    has({ ...thinLv, uuid: 'x' }, pool),
    { identity: dm.identity },
    /not the one that was created/,
    'ThinOriginExchanged',
  ],
  [
    'outside a pool',
    has({ ...thinLv, kind: '-', pool: undefined }),
    {},
    /is not a thin volume/,
    'ThinOriginNotThin',
  ],
  [
    'a COW snapshot’s origin',
    has({ ...thinLv, kind: 'o' }, pool),
    {},
    /is not a thin volume .*shows it as o/,
    'ThinOriginNotThin',
  ],
  [
    'without a tag',
    has({ ...thinLv, tags: [] }, pool),
    { identity: dm.identity },
    /does not have the tag/,
    'ThinOriginUntagged',
    true,
  ],
  [
    'unhealthy',
    has({ ...thinLv, health: 'p' }, pool),
    {},
    /\(lvs shows p\)$/,
    'ThinOriginUnwell',
    true,
  ],
  [
    'suspended',
    has({ ...thinLv, suspended: true }, pool),
    {},
    /is suspended/,
    'ThinOriginSuspended',
    true,
  ],
  [
    'in a suspended pool',
    has(thinLv, { ...pool, suspended: true }),
    {},
    /is suspended/,
    'ThinOriginSuspended',
    true,
  ],
  [
    'being expanded',
    { ...has(thinLv, pool), done: { sizeBytes: 5n } },
    {},
    /is being expanded$/,
    'ThinOriginGrowing',
    true,
  ],
  [
    'in a full pool',
    has(thinLv, { ...pool, dataPercent: 99 }),
    {},
    /has \d+ bytes left of/,
    'ThinPoolFullToCopy',
  ],
  [
    'in a pool with full metadata',
    has(thinLv, { ...pool, metadataPercent: 95 }),
    {},
    /metadata .* is 95 percent full/,
    'ThinPoolMetadataFull',
  ],
  ['in a pool that is gone', has(thinLv), {}, /there is no thin pool vg0\/pool/, 'ThinPoolMissing'],
  [
    'in a group without a disk',
    { ...has(thinLv, pool), groups: [{ ...group, partial: true }] },
    {},
    /is missing$/,
    'VolumeGroupPartial',
    true,
  ],
  [
    'beside a logical volume with the snapshot’s name',
    has({ ...snapLv, tags: [tagOf('other')] }, thinLv, pool),
    {},
    /^a logical volume vg0\/snap-.* exists, and nothing shows that it is the snapshot/,
    'ThinSnapshotNameTaken',
  ],
])(
  'a snapshot is refused for a volume that is %s',
  (_, observed, volume, why, code, retryable = false) => {
    const made = take(observed, volume);
    expect('refusal' in made ? [made.refusal, made.retryable ?? false] : made.steps).toEqual([
      expect.stringMatching(why),
      retryable,
    ]);
    expect(made).toMatchObject({ reason: { code } });
  },
);

test('a deletion removes a snapshot by UUID and tag, and nothing by its name alone', () => {
  expect(commands(remove(has(snapLv, thinLv, pool)))).toEqual([
    `lvremove --yes --select lv_uuid=${snapLv.uuid}&&lv_tags={${tagOf(SNAP_UID)}}&&lv_attr=~^[-VrRmMC]...- vg0/${SNAP}`,
  ]);
  expect(commands(remove(has({ ...snapLv, active: true })))[0]).toBe(
    `lvchange --activate n vg0/${SNAP}`,
  );
  expect(remove(has({ ...snapLv, active: true, open: true }))).toMatchObject({
    reason: { code: 'ThinSnapshotInUse' },
    retryable: true,
  });
  expect(remove(has({ ...snapLv, tags: [] }))).toMatchObject({
    refusal: expect.stringContaining('nothing shows that it is the snapshot'),
  });
  expect(remove(has(thinLv, pool))).toEqual({ steps: [] });
});

const answers = (groups: object[]) =>
  new Map(
    thinProbes(wantedSnap, VIEW).map(({ name }) => [
      name,
      name === 'groups'
        ? { exit: 0, stdout: JSON.stringify({ report: [{ vg: groups }] }), stderr: '' }
        : name === 'disks'
          ? { exit: 0, stdout: JSON.stringify({ report: [{ pv: [] }] }), stderr: '' }
          : name === 'logical volumes'
            ? { exit: 0, stdout: JSON.stringify({ report: [{ lv: [] }] }), stderr: '' }
            : { exit: 1, stdout: '', stderr: 'No such file or directory' },
    ]),
  );
const vg = {
  ...{ vg_name: 'vg0', vg_uuid: VG_UUID, vg_attr: 'wz--n-' },
  ...{ vg_extent_size: '4194304', vg_free_count: '1000' },
};
test('readThin throws if the volume group is missing or ambiguous', () => {
  expect(readThin(wantedSnap, VIEW, answers([vg])).volumes).toEqual([]);
  expect(() => readThin(wantedSnap, VIEW, answers([]))).toThrow(
    'there is no volume group vg0 on the node',
  );
  expect(() => readThin(wantedSnap, VIEW, answers([vg, vg]))).toThrow(
    `several volume groups named vg0: ${VG_UUID} and ${VG_UUID}`,
  );
});

test('readThin prefers the recorded volume group if two have the name', () => {
  const other = { ...vg, vg_uuid: 'another' };
  const volume = { ...thinOrigin, identity: dm.identity };
  const { groups } = readThin({ ...wantedSnap, volume }, VIEW, answers([other, vg]));
  expect(groups.map(({ uuid }) => uuid)).toEqual([VG_UUID, 'another']);
  expect(() => readThin({ ...wantedSnap, volume: undefined }, VIEW, answers([other, vg]))).toThrow(
    'another and abcdef-',
  );
});

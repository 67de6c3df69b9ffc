import { expect, test } from '@jest/globals';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import type { LogicalVolume } from '../../../src/storage/lvm/facts.ts';
import { tagOf, unfinishedTag } from '../../../src/storage/lvm/names.ts';
import type { DesiredLvm, ObservedLvm, Plan } from '../../../src/storage/types.ts';
import { settle, triggerUdev } from '../../support/link-words.ts';
import { asleep, dm, ext4, GIB, intent, pool, thinLv } from '../../support/lvm-input.ts';
import { plan } from '../../support/lvm-words.ts';
import { beside, RESTORED_UID, restoredThin, SNAP, snapLv } from '../../support/thin-input.ts';
import { UID } from '../../support/volume-input.ts';

const steps = (made: Plan) => {
  if ('refusal' in made) throw new Error(made.refusal);
  return made.steps;
};
const commands = (made: Plan) =>
  steps(made).map(({ argv }) => (argv[0] === 'sh' ? [argv[3], ...argv.slice(5)] : argv).join(' '));
const prepare = (observed: ObservedLvm, more: Partial<DesiredLvm> = {}) =>
  plan('provision', { ...restoredThin, ...more }, observed, 0);

const there = [snapLv, thinLv, pool];
const RESTORED = `vg0/${restoredThin.name}`;
const TAKE = `stowage-thin vg0/${SNAP} ${restoredThin.source?.uid} data2 ${RESTORED_UID} rw`;
const FINISH = `lvchange --setactivationskip n --deltag ${unfinishedTag(RESTORED_UID)} --addtag ${tagOf(RESTORED_UID)} ${RESTORED}`;
const ACTIVATE = `lvchange --activate y --ignoreactivationskip ${RESTORED}`;
const RESTORED_LINK = `/dev/disk/by-id/stowage-${RESTORED_UID}`;
/** Rule by name: the UUID is only known after lvcreate. */
const BY_NAME = [
  expect.stringMatching(
    new RegExp(`^find .*-${RESTORED_UID}\\.rules .*,ATTR\\{dm/name\\}=="vg0-data2",SYMLINK`),
  ),
  'flock -x -w 60 /run/udev/. udevadm control --reload',
];
/** Returns the commands without those that write records. */
const onVolume = (made: Plan) =>
  commands(made).filter((line) => /^(stowage|lv|find|flock|udevadm)/.test(line));

test('a restore expands a thin snapshot and changes its UUID before activating it', () => {
  const made = prepare(beside(there));
  expect(onVolume(made)).toEqual([
    TAKE,
    `lvextend --extents 512 ${RESTORED}`,
    `stowage-lvm-uuid ${RESTORED} ${RESTORED_UID}`,
    FINISH,
    ...BY_NAME,
    ACTIVATE,
    triggerUdev(RESTORED),
    settle(RESTORED_LINK),
  ]);
  const [first] = commands(made);
  expect(first).toMatch(/^install -d/);
  expect(commands(made).at(-1)).toBe('sync /var/lib/stowage/volumes');
  const done = steps(made).find(({ argv }) => argv[1]?.endsWith('.done.new'));
  expect(
    done?.preconditions.map(({ argv, expect: { stdout } }) => [argv.join(' '), stdout]),
  ).toContainEqual([
    `blkid -p -n ext4,xfs -o value -s UUID /dev/${RESTORED}`,
    { is: RESTORED_UID },
  ]);
  const locked = steps(made).find(({ argv }) => argv[3] === 'stowage-lvm-uuid');
  expect(locked).toMatchObject({ lock: '/dev/mapper/vg0-pool-tpool', failureMeansConflict: true });
});

test('a restore keeps the content of a Block volume of the same size', () => {
  const source = { ...restoredThin.source, mode: 'Block' } as DesiredLvm['source'];
  const made = prepare(beside(there), { mode: 'Block', fs: undefined, sizeBytes: GIB, source });
  expect(onVolume(made)).toEqual([TAKE, FINISH, ...BY_NAME, ACTIVATE, settle(RESTORED_LINK)]);
  expect(commands(made)).toContainEqual(expect.stringContaining('link_priority=-100'));
});

test('a clone is a thin snapshot of the source volume', () => {
  const source = {
    what: 'volume',
    vgName: 'vg0',
    name: 'data1',
    uid: UID,
    mode: 'Filesystem',
  } as const;
  expect(onVolume(prepare(beside([thinLv, pool]), { source }))[0]).toBe(
    `stowage-thin vg0/data1 ${UID} data2 ${RESTORED_UID} rw`,
  );
});

const half: LogicalVolume = {
  ...snapLv,
  ...{
    name: 'data2',
    uuid: 'half',
    origin: SNAP,
    tags: [unfinishedTag(RESTORED_UID)],
    writable: true,
  },
};
const begun = {
  intent: { ...intent, uid: RESTORED_UID, device: { path: '/dev/vg0/data2', identity: '' } },
};
const LEAVE = [
  `stowage-lvm-uuid ${RESTORED} ${RESTORED_UID} leave`,
  expect.stringMatching(
    /^lvremove --yes --select lv_uuid=half&&lv_tags=\{stowage.dev\/unfinished=/,
  ),
];
test('a retry removes the remains of an interrupted restore, even in a suspended pool', () => {
  expect(commands(prepare(beside([half, ...there], begun)))).toEqual(LEAVE);
  const stuck = [half, snapLv, { ...pool, suspended: true }];
  expect(commands(prepare(beside(stuck, begun)))).toEqual([
    'lvchange --refresh vg0/pool',
    ...LEAVE,
  ]);
});

test('a restore activates an inactive thin pool first', () => {
  expect(commands(prepare(beside([snapLv, asleep]))).at(-1)).toMatch(
    /^lvchange --activate y .*vg0\/pool$/,
  );
});

const finished: LogicalVolume = {
  ...half,
  tags: [tagOf(RESTORED_UID)],
  active: true,
  device: dm.device,
};
const device = (uuid: string) => ({
  ...ext4,
  dmUuid: `${ext4.dmUuid?.slice(0, -6)}`,
  signature: { found: 'one', type: 'ext4', uuid } as const,
});
const active = (uuid: string): ObservedLvm => {
  const facts = { ...device(uuid), dmUuid: 'LVM-abcdef00001111222233334444VGUUIDhalf' };
  return beside([finished, ...there], {
    ...begun,
    target: { is: 'device', facts },
    devices: [facts],
  });
};
test('a finished copy is recorded without being created or written to again', () => {
  const made = prepare(active(RESTORED_UID));
  expect(onVolume(made).filter((line) => !/^(find|flock|udevadm)/.test(line))).toEqual([]);
  expect(steps(made)[0]).toMatchObject({
    argv: expect.arrayContaining([expect.stringContaining('.done.new')]),
  });
  expect(prepare(active(UID))).toMatchObject({
    reason: { code: 'CopyContentMissing' },
    refusal: expect.stringContaining('should contain a file system'),
  });
});

test('a copy whose source is unknown gets no file system', () => {
  const { source: _, ...unknown } = restoredThin;
  const observed = active(RESTORED_UID);
  const made = plan('provision', unknown, observed, 0);
  expect(commands(made).filter((line) => line.startsWith('mkfs'))).toEqual([]);
  expect(plan('provision', unknown, beside([half, ...there], begun), 0)).toMatchObject({
    reason: { code: 'BegunAsCopy' },
    refusal: expect.stringContaining('no record shows which one'),
  });
});

test.each<[string, ObservedLvm, Partial<DesiredLvm>, RegExp, ReasonCode]>([
  ['is missing', beside([thinLv, pool]), {}, /snap-.* is missing$/, 'ThinSourceMissing'],
  [
    'has only its name',
    beside([{ ...snapLv, tags: [] }, pool]),
    {},
    /is missing$/,
    'ThinSourceMissing',
  ],
  [
    'exists twice',
    beside([{ ...snapLv, name: 'x' }, ...there]),
    {},
    /several logical volumes/,
    'ThinSourceTagOnSeveral',
  ],
  [
    'is no thin volume',
    beside([{ ...snapLv, kind: '-' }, pool]),
    {},
    /is not a thin volume/,
    'ThinSourceNotThin',
  ],
  [
    'is in another pool',
    beside([{ ...snapLv, pool: 'p2' }, pool]),
    {},
    /in the thin pool p2/,
    'ThinSourceInAnotherPool',
  ],
  [
    'is larger',
    beside(there),
    { sizeBytes: GIB / 2n },
    /requests 536870912 bytes, but .* has 1073741824/,
    'ThinSourceLarger',
  ],
  [
    'has another mode',
    beside(there),
    { mode: 'Block', fs: undefined },
    /requests mode Block/,
    'ThinSourceModeDiffers',
  ],
  [
    'is in a full pool',
    beside([snapLv, { ...pool, dataPercent: 99 }]),
    {},
    /bytes left of/,
    'ThinPoolFull',
  ],
  [
    'is in another group',
    beside(there),
    { source: { ...restoredThin.source, vgName: 'vg1' } as DesiredLvm['source'] },
    /is not in the volume group vg0/,
    'ThinSourceInAnotherGroup',
  ],
  [
    'exists, but the copy’s name is taken',
    beside([{ ...thinLv, name: 'data2', tags: [] }, ...there]),
    {},
    /already/,
    'LogicalVolumeExists',
  ],
  [
    'exists, but udev is not running',
    beside(there, { udev: false }),
    {},
    /udev is not running/,
    'UdevAbsent',
  ],
])('a restore is refused if the source %s', (_, observed, more, why, code) => {
  const made = prepare(observed, more);
  expect(made).toMatchObject({ reason: { code }, refusal: expect.stringMatching(why) });
});

test.each(['Retain', 'Delete', 'Wipe'] as const)(
  'a deletion with %s removes an unfinished copy',
  (onDelete) => {
    const made = plan(
      'delete',
      { ...restoredThin, onDelete },
      beside([half, ...there], { ...begun, recordFiles: true }),
      0,
    );
    expect(commands(made).slice(0, 2)).toEqual(LEAVE);
    expect(commands(made)[2]).toMatch(/^rm -f /);
    expect(steps(made)[2]?.preconditions).toMatchObject([
      { expect: { stdout: { has: '', lacks: 'half' } } },
    ]);
    // The records were lost with the node's root disk.
    const forgotten = plan('delete', { ...restoredThin, onDelete }, beside([half, ...there]), 0);
    expect(commands(forgotten)).toEqual(LEAVE);
  },
);

test('a restore is refused outside of a thin pool', () => {
  expect(prepare(beside(there), { thinPool: undefined })).toMatchObject({
    refusal: expect.stringMatching(/is in the thin pool pool, but data2 requests none/),
  });
});

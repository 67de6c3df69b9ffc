import { describe, expect, test } from '@jest/globals';
import { plan } from '../../../src/storage/plan.ts';
import type { DesiredLvm, DeviceFacts, ObservedLvm } from '../../../src/storage/types.ts';
import {
  asleep,
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
import { UID } from '../../support/volume-input.ts';

const TAG = `stowage.dev/uid=${UID}`;
const MKFS = `mkfs.ext4 -q -F -U ${UID}`;
const WAIT = `udevadm settle --timeout=10 --exit-if-exists=/dev/disk/by-uuid/${UID}`;
const WAIT_DM = `udevadm settle --timeout=10 --exit-if-exists=/dev/disk/by-id/dm-uuid-${dm.dmUuid}`;
const LOOK = (name: string) => `udevadm trigger --action=change --name-match=/dev/${name}`;
const CREATE = `lvcreate --config allocation/use_blkid_wiping=1 --name data1 --addtag ${TAG} --extents 256 --wipesignatures y --zero y vg0`;

/** Without the records, which every kind has. */
function outcome(wanted: DesiredLvm, observed: ObservedLvm): string[] | string {
  const made = plan('prepare', wanted, observed, 0);
  if ('refusal' in made) return `${made.passing ? 'passing: ' : ''}${made.refusal}`;
  return made.steps
    .map(({ argv }) => argv.join(' '))
    .filter((command) => !/^(install|mv|sync \/var|true$|dd of=\/var)/.test(command))
    .map((command) => command.replace(/^sync .*/, 'sync'));
}
const steps = (wanted: DesiredLvm, observed: ObservedLvm) => {
  const made = plan('prepare', wanted, observed, 0);
  if ('refusal' in made) throw new Error(made.refusal);
  return made.steps;
};

const stale = { ...free, content: 'ext4:OLD', blkid: 'TYPE=ext4\nUUID=OLD', blkidExit: 0 };
const xfs: DeviceFacts = { ...dm, signature: { found: 'one', type: 'xfs', uuid: 'x' }, content: 'xfs:x' };

describe('is made', () => {
  test.each<[string, ObservedLvm, string[], DesiredLvm?]>([
    ['thick', lvmNode(), [CREATE, `${MKFS} /dev/vg0/data1`, 'sync', LOOK('vg0/data1'), WAIT], lvmDesired],
    ['Block', lvmNode(), [CREATE], lvmBlock],
    [
      'in whole extents',
      lvmNode({ free: [{ ...free, count: 257n }] }),
      [CREATE.replace('256', '257')],
      { ...lvmBlock, sizeBytes: GIB + 1n },
    ],
    [
      'thin',
      lvmNode({ volumes: [pool], free: [] }),
      [
        `lvcreate --name data1 --addtag ${TAG} --virtualsize ${GIB}b --thinpool pool vg0`,
        `${MKFS} /dev/vg0/data1`,
        'sync',
        LOOK('vg0/data1'),
        WAIT,
      ],
    ],
    [
      'thin, and the pool is inactive: how full it is must be known, and an lvcreate that was killed may have left its inner devices active',
      lvmNode({ volumes: [asleep], free: [] }),
      [
        'lvchange --activate n vg0/pool_tmeta',
        'lvchange --activate n vg0/pool_tdata',
        'lvchange --activate y --ignoreactivationskip --select lv_attr=~^t vg0/pool',
      ],
    ],
    [
      'thin, and only the pool’s own device is inactive: it serves other volumes',
      lvmNode({ volumes: [{ ...asleep, dataPercent: 3 }], free: [] }),
      [`lvcreate --name data1 --addtag ${TAG} --virtualsize ${GIB}b --thinpool pool vg0`],
      { ...thin, mode: 'Block', fs: undefined },
    ],
    [
      'thin, and an lvcreate that was killed left the pool suspended: all of its volumes wait',
      lvmNode({ volumes: [{ ...pool, suspended: true }], free: [] }),
      ['lvchange --refresh vg0/pool'],
    ],
    [
      'with consent, of the very extents that were looked into',
      lvmNode({ free: [stale] }),
      [`${CREATE.replace('lvcreate', 'lvcreate --yes')} /dev/vdb:10-265`],
      { ...lvmBlock, overwrite: 'ext4:OLD' },
    ],
    [
      'with a consent that is not needed, LVM is told yes to nothing',
      lvmNode(),
      [`${CREATE} /dev/vdb:10-265`],
      { ...lvmBlock, overwrite: 'ext4:OLD' },
    ],
  ])('%s', (_, observed, commands, wanted = thin) => {
    expect(outcome(wanted, observed)).toEqual(commands);
  });

  test('inner devices of a pool are deactivated where they are not for reading alone, as those who repair it have them', () => {
    for (const step of steps(thin, lvmNode({ volumes: [asleep], free: [] })).filter(
      ({ argv }) => argv[1] === '--activate' && argv[2] === 'n',
    )) {
      expect(step.guards).toEqual([
        {
          argv: ['lvs', '--noheadings', '-o', 'lv_permissions', step.argv.at(-1)],
          expect: { exit: 0, stdout: { has: '', lacks: 'read-only' } },
          refusal: expect.stringContaining('somebody may be repairing the thin pool'),
        },
      ]);
    }
  });

  test.each([
    ['mkfs.ext4', thin, lvmNode({ volumes: [pool], free: [] }), '95.88'],
    ['lvcreate', thin, lvmNode({ volumes: [pool], free: [] }), '95.88'],
    [
      'lvcreate',
      { ...thin, mode: 'Block' as const, fs: undefined },
      lvmNode({ volumes: [pool], free: [] }),
      '100.00',
    ],
    ['mkfs.ext4', thin, begun(dm, { volumes: [thinLv, pool] }), '95.88'],
  ])(
    '%s goes ahead where the pool has room right then, whoever took some since it was looked at',
    (program, wanted, observed, percent) => {
      const step = steps(wanted, observed).find(({ argv }) => argv[0] === program);
      expect(step?.guards[0]).toMatchObject({
        argv: [
          ...['lvs', '--noheadings', '-o', 'lv_uuid', '--select'],
          `lv_uuid=${pool.uuid}&&data_percent<${percent}&&metadata_percent<90&&lv_attr=~^t.......-`,
          'vg0/pool',
        ],
        expect: { exit: 0, stdout: { has: `  ${pool.uuid}` } },
      });
      // Of several that look and then write, one at a time.
      if (program !== 'lvcreate')
        expect(step).toMatchObject({ lock: '/dev/mapper/vg0-pool-tpool', mayRace: true });
    },
  );

  test.each([0, 50, 95.86, 95.87, 95.88, 99.99])(
    'what is planned at %d percent is what is guarded',
    (dataPercent) => {
      const made = plan('prepare', thin, lvmNode({ volumes: [{ ...pool, dataPercent }], free: [] }), 0);
      expect('steps' in made).toBe(dataPercent < 95.88);
    },
  );

  test('a pool that LVM may be at work in is looked at again', () => {
    const observed = lvmNode({ volumes: [{ ...pool, dataPercent: undefined }], free: [] });
    expect(plan('prepare', thin, observed, 0)).toMatchObject({
      refusal: expect.stringContaining('thin pool vg0/pool does not tell'),
      passing: true,
    });
  });

  test('the record comes before lvcreate, and done last of what is made', () => {
    const names = steps(lvmDesired, lvmNode()).map(({ name }) => name);
    expect(names.indexOf('put the record "intent" in place')).toBeLessThan(
      names.indexOf('make the logical volume vg0/data1'),
    );
    expect(names.indexOf('put the record "done" in place')).toBeGreaterThan(names.indexOf('sync the device'));
  });

  test('nothing is made once it is on record as done, and only what LVM just made gets a file system', () => {
    const guards = (program: string) =>
      steps(lvmDesired, lvmNode())
        .find(({ argv }) => argv[0] === program)
        ?.guards.map(({ argv }) => argv.join(' '));
    const notDone = `test ! -e /var/lib/stowage/volumes/${UID}.done`;
    expect(guards('lvcreate')).toEqual([notDone]);
    expect(guards('mkfs.ext4')).toEqual([
      notDone,
      'lvs --noheadings -o lv_tags vg0/data1',
      'lsblk --raw -n -d -o NAME,TYPE /dev/vg0/data1',
      expect.stringContaining('dd if=/dev/vg0/data1'),
      expect.stringContaining('dd if=/dev/vg0/data1'),
      'blkid -p -o value -s TYPE -s PTTYPE /dev/vg0/data1',
      'wipefs -n -i -O TYPE /dev/vg0/data1',
    ]);
  });

  test('in mode Block nothing is done before LVM is seen to have left nothing on it', () => {
    const made = steps(lvmBlock, lvmNode());
    const next = made[made.findIndex(({ argv }) => argv[0] === 'lvcreate') + 1];
    expect(next?.name).toBe('write the record "done"');
    expect(next?.guards.map(({ argv }) => argv[0])).toEqual(['lvs', 'lsblk', 'dd', 'dd', 'blkid', 'wipefs']);
  });

  test.each([
    ['vg0', 'data1', 'vg0-data1'],
    ['my-vg', 'a-b--c', 'my--vg-a--b----c'],
  ])('only where the path of %s/%s leads to device-mapper’s %s', (vgName, name, dmName) => {
    const made = steps({ ...lvmDesired, vgName, name }, lvmNode({ groups: [{ ...group, name: vgName }] }));
    expect(made.find(({ argv }) => argv[0] === 'mkfs.ext4')?.guards).toContainEqual({
      argv: ['lsblk', '--raw', '-n', '-d', '-o', 'NAME,TYPE', `/dev/${vgName}/${name}`],
      expect: { exit: 0, stdout: { is: `${dmName} lvm` } },
      refusal: expect.stringContaining('is not the logical volume that was made'),
    });
  });

  test('what LVM asks is answered by nobody, also where the plan is pasted into a shell', () => {
    expect(steps(lvmDesired, lvmNode()).find(({ argv }) => argv[0] === 'lvcreate')?.stdin).toBe('');
  });

  test('a file system is only made on the device that was looked at, by what device-mapper calls it', () => {
    const made = steps(lvmDesired, begun(dm, { volumes: [lv] }));
    expect(made.find(({ argv }) => argv[0] === 'mkfs.ext4')?.guards).toContainEqual({
      argv: ['cat', '/sys/class/block/dm-3/dm/uuid'],
      expect: { exit: 0, stdout: { is: dm.dmUuid } },
      refusal: expect.stringContaining('no longer the device'),
    });
  });

  test('consent is bound to what is in the extents, and on record before', () => {
    const wanted = { ...lvmBlock, overwrite: 'ext4:OLD' };
    const made = steps(wanted, lvmNode({ free: [stale] }));
    const lvcreate = made.find(({ argv }) => argv[0] === 'lvcreate');
    expect(lvcreate?.guards).toContainEqual({
      argv: ['blkid', '-p', '-O', String(11n * MIB), '-S', String(GIB), '-o', 'export', '/dev/vdb'],
      expect: { exit: 0, stdout: { is: stale.blkid } },
      refusal: expect.stringContaining('changed'),
    });
    expect(made.find(({ stdin }) => stdin?.includes('"consent":"ext4:OLD"'))).toBeDefined();
  });
});

describe('goes on after a crash', () => {
  test.each<[string, ObservedLvm, string[], DesiredLvm?]>([
    [
      'before there was a logical volume',
      lvmNode({ intent: { ...intent, fsType: '' }, recordFiles: true }),
      [CREATE],
      lvmBlock,
    ],
    ['after lvcreate', begun(), [`${MKFS} /dev/dm-3`, 'sync', LOOK('dm-3'), WAIT]],
    ['after lvcreate, Block', begun(dm), [LOOK('dm-3'), WAIT_DM], lvmBlock],
    [
      'in mkfs',
      begun(ext4),
      ['wipefs --all --force /dev/dm-3', `${MKFS} /dev/dm-3`, 'sync', LOOK('dm-3'), WAIT],
    ],
    ['thin', begun(dm, { volumes: [thinLv, pool] }), [`${MKFS} /dev/dm-3`, 'sync', LOOK('dm-3'), WAIT], thin],
    [
      'a reboot left it inactive',
      begun(dm, { volumes: [{ ...lv, active: false, device: undefined }], target: { is: 'missing' } }),
      ['lvchange --activate y --ignoreactivationskip vg0/data1', WAIT],
    ],
    [
      'a reboot left it inactive, thin',
      begun(dm, {
        volumes: [{ ...thinLv, active: false, device: undefined }, asleep],
        target: { is: 'missing' },
      }),
      [
        'lvchange --activate n vg0/pool_tmeta',
        'lvchange --activate n vg0/pool_tdata',
        'lvchange --activate y --ignoreactivationskip vg0/data1',
        WAIT,
      ],
      thin,
    ],
    [
      'LVM was killed and left it suspended',
      begun(dm, { volumes: [{ ...lv, suspended: true }], target: { is: 'missing' } }),
      ['lvchange --refresh vg0/data1'],
    ],
    [
      'with a signature that LVM was not asked about, and consent',
      begun(xfs),
      ['wipefs --all --force /dev/dm-3', LOOK('dm-3'), WAIT_DM],
      { ...lvmBlock, overwrite: 'xfs:x' },
    ],
  ])('%s', (_, observed, commands, wanted = lvmDesired) => {
    expect(outcome(wanted, observed)).toEqual(commands);
  });
});

describe('refused', () => {
  const odd = (more: object) => lvmNode({ groups: [{ ...group, ...more }] });
  test.each<[string, ObservedLvm, RegExp, DesiredLvm?]>([
    ['no udev', lvmNode({ udev: false }), /^passing: no udev runs on the node, so .*by-uuid/],
    ['no udev, Block', lvmNode({ udev: false }), /^passing: no udev runs .*dm-uuid-LVM-…/, lvmBlock],
    ['no group', lvmNode({ groups: [] }), /^there is no volume group vg0/],
    [
      'no group any more: its disk may come late',
      lvmNode({ groups: [], intent }),
      /^passing: there is no volume group vg0/,
    ],
    ['two groups', lvmNode({ groups: [group, { ...group, uuid: 'B' }] }), /two volume groups vg0/],
    ['another group', lvmNode({ groups: [{ ...group, uuid: 'B' }], intent }), /is not the one that/],
    ['exported', odd({ exported: true }), /is exported$/],
    ['shared', odd({ shared: true }), /clustered or shared/],
    [
      'partial: its disk may come late after a reboot',
      odd({ partial: true }),
      /^passing: a physical volume of the volume group vg0 is away/,
    ],
    [
      'partial, and begun',
      begun(dm, { groups: [{ ...group, partial: true }] }),
      /^passing: a physical volume of the volume group vg0 is away/,
    ],
    ['read-only', odd({ readOnly: true }), /is read-only$/],
    [
      'no room',
      odd({ freeExtents: 255n }),
      /^the volume group vg0 has 1069547520 bytes left, and the Volume needs 1073741824$/,
    ],
    [
      'no room but on disks that nothing is taken from',
      lvmNode({ free: [{ ...free, count: 100n }] }),
      /^the volume group vg0 has 419430400 bytes left, and the Volume needs 1073741824$/,
    ],
    [
      'two carry its tag',
      begun(dm, { volumes: [lv, { ...lv, name: 'copy', uuid: 'B' }] }),
      /^several logical volumes carry the tag of this Volume: vg0\/data1, vg0\/copy$/,
    ],
    [
      'it carries the tag of another Volume, too',
      begun(dm, { volumes: [{ ...lv, tags: [...lv.tags, 'stowage.dev/uid=other'] }] }),
      /^the logical volume vg0\/data1 carries the tag of another Volume, too, with the UID other$/,
    ],
    [
      'xfs too small',
      lvmNode(),
      /300Mi/,
      { ...lvmDesired, fs: { type: 'xfs', options: [] }, sizeBytes: MIB },
    ],
    [
      'a signature in the extents',
      lvmNode({ free: [stale] }),
      /^the free extents of vg0 that the logical volume would take carry ext4:OLD \(on \/dev\/vdb\)$/,
    ],
    [
      'the annotation of MetalK8s alone',
      lvmNode({ free: [stale] }),
      /carry ext4:OLD .*force-lvcreate does not say what/,
      { ...lvmDesired, forced: true },
    ],
    [
      'consent to something else, also with the annotation',
      lvmNode({ free: [stale] }),
      /The consent that was given is for "ext4", which is not what is there$/,
      { ...lvmDesired, forced: true, overwrite: 'ext4' },
    ],
    [
      'several signatures in the extents, which blkid does not name: no consent can',
      lvmNode({ free: [free, { ...free, content: 'ambivalent', blkidExit: 8 }] }),
      /carry more than one signature, and blkid does not tell which$/,
      { ...lvmDesired, overwrite: 'ambivalent' },
    ],
    [
      'another logical volume has the name',
      begun(dm, { volumes: [{ ...lv, tags: [] }], intent: undefined, recordFiles: false }),
      /^there is a logical volume vg0\/data1 already, and nothing says that it was made for this Volume$/,
    ],
    [
      'the same, with a record of ours, for lvcreate may have failed for that',
      begun(dm, { volumes: [{ ...lv, tags: [] }] }),
      /^there is a logical volume vg0\/data1 already/,
    ],
    [
      'of another Volume',
      begun(dm, { volumes: [{ ...lv, tags: ['stowage.dev/uid=other'] }] }),
      /^there is a logical volume vg0\/data1 already/,
    ],
    [
      'ours without a record: it may hold data',
      begun(dm, { intent: undefined, recordFiles: false }),
      /was made for this Volume, and nothing on the node says how far/,
      lvmBlock,
    ],
    ['of another pool', begun(), /is not thin, and the Volume asks for the pool pool/, thin],
    [
      'a record of another place',
      begun(dm, { intent: { ...intent, device: { path: '/dev/sdb', identity: '' } } }),
      /records for this Volume \/dev\/sdb, not/,
    ],
    ['a signature in what LVM made', begun(xfs), /^\/dev\/dm-3 carries xfs:x$/],
    [
      'the same, with the annotation',
      begun(xfs),
      /carries xfs:x\. The annotation force-lvcreate does not say/,
      { ...lvmDesired, forced: true },
    ],
    ['in use already', begun(dm, { mounts: new Map([['253:3', ['/a']]]) }), /in use: mounted at \/a/],
    [
      'partial itself',
      begun(dm, { volumes: [{ ...lv, health: 'p' }] }),
      /^passing: a physical volume of .* is away/,
    ],
  ])('%s', (_, observed, refusal, wanted = lvmDesired) => {
    expect(outcome(wanted, observed)).toMatch(refusal);
  });
});

describe('a thin pool', () => {
  const inPool = (more: object) => lvmNode({ volumes: [{ ...pool, ...more }], free: [] });
  test.each<[string, ObservedLvm, RegExp]>([
    ['that is not there', lvmNode({ free: [] }), /^there is no thin pool vg0\/pool$/],
    ['that is none', inPool({ kind: '-' }), /^vg0\/pool is no thin pool$/],
    ['without room', inPool({ dataPercent: 99 }), /has 21474837 bytes left of 2147483648, and a volume of/],
    ['without room for metadata', inPool({ metadataPercent: 90 }), /metadata .* full to 90 percent$/],
    ['out of space', inPool({ health: 'D' }), /is out of space$/],
    ['with read-only metadata', inPool({ health: 'M' }), /has read-only metadata$/],
    ['that has failed', inPool({ health: 'F' }), /has failed$/],
    ['that waits for repair', inPool({ health: 'c' }), /is not well/],
    ['that says nothing', inPool({ dataPercent: undefined }), /does not tell how full it is$/],
  ])('%s is refused', (_, observed, refusal) => {
    expect(outcome(thin, observed)).toMatch(refusal);
  });

  test.each([{ dataPercent: 99 }, { health: 'D' }])(
    'that became full (%j) meanwhile gets no file system',
    (more) => {
      const observed = begun(dm, { volumes: [thinLv, { ...pool, ...more }] });
      expect(outcome(thin, observed)).toMatch(
        /^the thin pool vg0\/pool (has 21474837 bytes left|is out of space)/,
      );
    },
  );

  test('may be promised more than it has', () => {
    expect(outcome({ ...thin, mode: 'Block', sizeBytes: 100n * GIB }, inPool({}))).toHaveLength(1);
    expect(outcome({ ...thin, sizeBytes: 50n * GIB }, inPool({}))).toHaveLength(5);
    expect(outcome({ ...thin, sizeBytes: 100n * GIB }, inPool({}))).toMatch(/is begun with 2214592512$/);
  });
});

describe('what is made is never made again', () => {
  test.each<[string, ObservedLvm, RegExp]>([
    [
      'the logical volume is gone',
      lvmMade(ext4, { volumes: [], target: { is: 'missing' } }),
      /vg0\/data1 is missing$/,
    ],
    ['the group is gone', lvmMade(ext4, { groups: [], volumes: [] }), /no volume group vg0/],
    ['another one has its name', madeAs({ tags: [] }), /is now another logical volume/],
    ['nothing is on it', lvmMade(dm), /should carry what was made .* nothing was found$/],
    ['something else is on it', lvmMade(xfs), /xfs:x was found$/],
  ])('%s', (_, observed, refusal) => {
    for (const wanted of [lvmDesired, { ...lvmDesired, recorded: true }]) {
      expect(outcome(wanted, observed)).toMatch(refusal);
    }
  });

  test('nothing remains to be done', () => {
    expect(outcome(lvmDesired, lvmMade())).toEqual([]);
  });
});

import { describe, expect, test } from '@jest/globals';
import { refuse } from '../../../src/api/reasons.ts';
import type { DesiredLvm, ObservedLvm } from '../../../src/storage/types.ts';
import { LAST, LINK, ruleFor, settle, triggerUdev } from '../../support/link-words.ts';
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
  lvmNode,
  MIB,
  pool,
  thin,
  thinLv,
} from '../../support/lvm-input.ts';
import { plan } from '../../support/lvm-words.ts';
import { UID } from '../../support/volume-input.ts';
import { outcome, stale, xfs } from './provision-outcome.ts';

const TAG = `stowage.dev/uid=${UID}`;
const MKFS = `mkfs.ext4 -q -F -U ${UID}`;
const REMOVE = `lvremove --yes --select lv_uuid=${lv.uuid}&&lv_tags={${TAG}}&&lv_attr=~^[-VrRmMC]...- vg0/data1`;
const WAIT = settle();
const LOOK = triggerUdev;
/**
 * Rules by name: the UUID is only known after lvcreate. Without the command for the rules'
 * directory, which outcomes omit.
 */
const BY_NAME = ruleFor('ATTR{dm/name}=="vg0-data1"').slice(1);
const BLOCK_BY_NAME = ruleFor('ATTR{dm/name}=="vg0-data1"', LINK, LAST).slice(1);
const BY_UUID = ruleFor(`ATTR{dm/uuid}=="${dm.dmUuid}"`).slice(1);
const BLOCK_BY_UUID = ruleFor(`ATTR{dm/uuid}=="${dm.dmUuid}"`, LINK, LAST).slice(1);
const CREATE = `lvcreate --config allocation{use_blkid_wiping=1} --name data1 --addtag ${TAG} --extents 256 --wipesignatures y --zero y vg0`;
const steps = (wanted: DesiredLvm, observed: ObservedLvm) => {
  const made = plan('provision', wanted, observed, 0);
  if ('refusal' in made) throw new Error(made.refusal);
  return made.steps;
};

describe('provisioning a logical volume', () => {
  test.each<[string, ObservedLvm, string[], DesiredLvm?]>([
    [
      'thick',
      lvmNode(),
      [...BY_NAME, CREATE, `${MKFS} /dev/vg0/data1`, 'sync', LOOK('vg0/data1'), WAIT],
      lvmDesired,
    ],
    ['Block', lvmNode(), [...BLOCK_BY_NAME, CREATE, WAIT], lvmBlock],
    [
      'from other extents if those that LVM would take have content',
      lvmNode({ passedOver: [{ ...free, content: 'xfs:OLD' }] }),
      [...BLOCK_BY_NAME, `${CREATE} /dev/vdb:10-265`, WAIT],
      lvmBlock,
    ],
    [
      'from extents with any content, with consent to all free extents',
      lvmNode({ free: [{ ...free, content: 'ambivalent', blkid: '', blkidExit: 8 }] }),
      [...BLOCK_BY_NAME, `${CREATE.replace('lvcreate', 'lvcreate --yes')} /dev/vdb:10-265`, WAIT],
      { ...lvmBlock, overwrite: 'free extents' },
    ],
    [
      'in whole extents',
      lvmNode({ free: [{ ...free, count: 257n }] }),
      [...BLOCK_BY_NAME, CREATE.replace('256', '257'), WAIT],
      { ...lvmBlock, sizeBytes: GIB + 1n },
    ],
    [
      'thin',
      lvmNode({ volumes: [pool], free: [] }),
      [
        ...BY_NAME,
        `lvcreate --name data1 --addtag ${TAG} --virtualsize ${GIB}b --thinpool pool vg0`,
        `${MKFS} /dev/vg0/data1`,
        'sync',
        LOOK('vg0/data1'),
        WAIT,
      ],
    ],
    [
      'thin, in an inactive pool: deactivates its inner devices and activates the pool first',
      lvmNode({ volumes: [asleep], free: [] }),
      [
        'lvchange --activate n vg0/pool_tmeta',
        'lvchange --activate n vg0/pool_tdata',
        'lvchange --activate y --ignoreactivationskip --select lv_attr=~^t vg0/pool',
      ],
    ],
    [
      'thin, in an active pool whose own device is inactive',
      lvmNode({ volumes: [{ ...asleep, dataPercent: 3 }], free: [] }),
      [
        ...BLOCK_BY_NAME,
        `lvcreate --name data1 --addtag ${TAG} --virtualsize ${GIB}b --thinpool pool vg0`,
        WAIT,
      ],
      { ...thin, mode: 'Block', fs: undefined },
    ],
    [
      'thin, in a pool that a killed lvcreate left suspended',
      lvmNode({ volumes: [{ ...pool, suspended: true }], free: [] }),
      ['lvchange --refresh vg0/pool'],
    ],
    [
      'with consent, from exactly the checked extents',
      lvmNode({ free: [stale] }),
      [...BLOCK_BY_NAME, `${CREATE.replace('lvcreate', 'lvcreate --yes')} /dev/vdb:10-265`, WAIT],
      { ...lvmBlock, overwrite: 'ext4:OLD' },
    ],
    [
      'with unneeded consent, without lvcreate --yes',
      lvmNode(),
      [...BLOCK_BY_NAME, `${CREATE} /dev/vdb:10-265`, WAIT],
      { ...lvmBlock, overwrite: 'ext4:OLD' },
    ],
  ])('plans only the needed commands: %s', (_, observed, commands, wanted = thin) => {
    expect(outcome(wanted, observed)).toEqual(commands);
  });

  test('deactivates inner devices of a pool only if they are not read-only for a repair', () => {
    for (const step of steps(thin, lvmNode({ volumes: [asleep], free: [] })).filter(
      ({ argv }) => argv[1] === '--activate' && argv[2] === 'n',
    )) {
      expect(step.preconditions).toEqual([
        {
          argv: ['lvs', '--noheadings', '-o', 'lv_permissions', step.argv.at(-1)],
          expect: { exit: 0, stdout: { has: '', lacks: 'read-only' } },
          ...refuse('ThinPoolUnderRepair', { volume: step.argv.at(-1) ?? '' }),
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
    '%s requires that the thin pool still has space when it runs',
    (program, wanted, observed, percent) => {
      const step = steps(wanted, observed).find(({ argv }) => argv[0] === program);
      expect(step?.preconditions[0]).toMatchObject({
        argv: [
          ...['lvs', '--noheadings', '-o', 'lv_uuid', '--select'],
          `lv_uuid=${pool.uuid}&&data_percent<${percent}&&metadata_percent<90&&lv_attr=~^t.......-`,
          'vg0/pool',
        ],
        expect: { exit: 0, stdout: { has: `  ${pool.uuid}` } },
      });
      // Jobs that check and then write run one at a time.
      if (program !== 'lvcreate')
        expect(step).toMatchObject({
          lock: '/dev/mapper/vg0-pool-tpool',
          failureMeansConflict: true,
        });
    },
  );

  test.each([0, 50, 95.86, 95.87, 95.88, 99.99])(
    'is planned at %d percent of pool usage only if the precondition would hold',
    (dataPercent) => {
      const made = plan(
        'provision',
        thin,
        lvmNode({ volumes: [{ ...pool, dataPercent }], free: [] }),
        0,
      );
      expect('steps' in made).toBe(dataPercent < 95.88);
    },
  );

  test('is retried while LVM does not report the usage of the pool', () => {
    const observed = lvmNode({ volumes: [{ ...pool, dataPercent: undefined }], free: [] });
    expect(plan('provision', thin, observed, 0)).toMatchObject({
      reason: { code: 'ThinPoolSilent' },
      refusal: expect.stringContaining('LVM does not report the usage of the thin pool vg0/pool'),
      retryable: true,
    });
  });

  test('writes the intent before lvcreate, and done after the sync', () => {
    const names = steps(lvmDesired, lvmNode()).map(({ name }) => name);
    expect(names.indexOf('put the record "intent" in place')).toBeLessThan(
      names.indexOf('create the logical volume vg0/data1'),
    );
    expect(names.indexOf('put the record "done" in place')).toBeGreaterThan(
      names.indexOf('sync the device'),
    );
  });

  test('verifies that the volume is not done, and that mkfs gets a new, empty device', () => {
    const preconditions = (program: string) =>
      steps(lvmDesired, lvmNode())
        .find(({ argv }) => argv[0] === program)
        ?.preconditions.map(({ argv }) => argv.join(' '));
    const notDone = `test ! -e /var/lib/stowage/volumes/${UID}.done`;
    expect(preconditions('lvcreate')).toEqual([notDone, 'vgs --noheadings -o vg_uuid vg0']);
    expect(preconditions('mkfs.ext4')).toEqual([
      notDone,
      'lvs --noheadings -o lv_tags vg0/data1',
      'lsblk --raw -n -d -o NAME,TYPE /dev/vg0/data1',
      expect.stringContaining('dd if=/dev/vg0/data1'),
      expect.stringContaining('dd if=/dev/vg0/data1'),
      'blkid -p -o value -s TYPE -s PTTYPE /dev/vg0/data1',
      'wipefs -n -i -O TYPE /dev/vg0/data1',
    ]);
  });

  test('is recorded as done in mode Block only if the new volume is empty', () => {
    const made = steps(lvmBlock, lvmNode());
    const next = made[made.findIndex(({ argv }) => argv[0] === 'lvcreate') + 1];
    expect(next?.name).toBe('write the record "done"');
    expect(next?.preconditions.map(({ argv }) => argv[0])).toEqual([
      'lvs',
      'lsblk',
      'dd',
      'dd',
      'blkid',
      'wipefs',
    ]);
  });

  test.each([
    ['vg0', 'data1', 'vg0-data1'],
    ['my-vg', 'a-b--c', 'my--vg-a--b----c'],
  ])('verifies that the path of %s/%s leads to device-mapper’s %s', (vgName, name, dmName) => {
    const made = steps(
      { ...lvmDesired, vgName, name },
      lvmNode({ groups: [{ ...group, name: vgName }] }),
    );
    expect(made.find(({ argv }) => argv[0] === 'mkfs.ext4')?.preconditions).toContainEqual({
      argv: ['lsblk', '--raw', '-n', '-d', '-o', 'NAME,TYPE', `/dev/${vgName}/${name}`],
      expect: { exit: 0, stdout: { is: `${dmName} lvm` } },
      ...refuse('LogicalVolumeNotAsMade', { path: `/dev/${vgName}/${name}` }),
    });
  });

  test('runs lvcreate with empty standard input, so that no question is answered', () => {
    expect(steps(lvmDesired, lvmNode()).find(({ argv }) => argv[0] === 'lvcreate')?.stdin).toBe('');
  });

  test('verifies the device-mapper UUID before mkfs', () => {
    const made = steps(lvmDesired, begun(dm, { volumes: [lv] }));
    expect(made.find(({ argv }) => argv[0] === 'mkfs.ext4')?.preconditions).toContainEqual({
      argv: ['cat', '/sys/class/block/dm-3/dm/uuid'],
      expect: { exit: 0, stdout: { is: dm.dmUuid } },
      ...refuse('DeviceChanged', { device: '/dev/dm-3' }),
    });
  });

  test('binds consent to the content of the extents, and records it', () => {
    const wanted = { ...lvmBlock, overwrite: 'ext4:OLD' };
    const made = steps(wanted, lvmNode({ free: [stale] }));
    const lvcreate = made.find(({ argv }) => argv[0] === 'lvcreate');
    expect(lvcreate?.preconditions).toContainEqual({
      argv: ['blkid', '-p', '-O', String(11n * MIB), '-S', String(GIB), '-o', 'export', '/dev/vdb'],
      expect: { exit: 0, stdout: { is: stale.blkid } },
      ...refuse('FreeExtentsChanged', { disk: '/dev/vdb' }),
    });
    expect(made.find(({ stdin }) => stdin?.includes('"consent":"ext4:OLD"'))).toBeDefined();
  });
});

describe('provisioning a logical volume after a crash', () => {
  test.each<[string, ObservedLvm, string[], DesiredLvm?]>([
    [
      'before lvcreate',
      lvmNode({ intent: { ...intent, fsType: '' }, recordFiles: true }),
      // LVM may have found a signature in other extents.
      [...BLOCK_BY_NAME, `${CREATE} /dev/vdb:10-265`, WAIT],
      lvmBlock,
    ],
    ['after lvcreate', begun(), [`${MKFS} /dev/dm-3`, 'sync', ...BY_UUID, LOOK('dm-3'), WAIT]],
    ['after lvcreate, Block', begun(dm), [...BLOCK_BY_UUID, LOOK('dm-3'), WAIT], lvmBlock],
    [
      'in mkfs',
      begun(ext4),
      [
        'wipefs --all --force /dev/dm-3',
        `${MKFS} /dev/dm-3`,
        'sync',
        ...BY_UUID,
        LOOK('dm-3'),
        WAIT,
      ],
    ],
    [
      'thin',
      begun(dm, { volumes: [thinLv, pool] }),
      [`${MKFS} /dev/dm-3`, 'sync', ...BY_UUID, LOOK('dm-3'), WAIT],
      thin,
    ],
    [
      'inactive after a reboot',
      begun(dm, {
        volumes: [{ ...lv, active: false, device: undefined }],
        target: { is: 'missing' },
      }),
      [...BY_UUID, 'lvchange --activate y --ignoreactivationskip vg0/data1', WAIT],
    ],
    [
      'inactive after a reboot, thin',
      begun(dm, {
        volumes: [{ ...thinLv, active: false, device: undefined }, asleep],
        target: { is: 'missing' },
      }),
      [
        'lvchange --activate n vg0/pool_tmeta',
        'lvchange --activate n vg0/pool_tdata',
        ...BY_UUID,
        REMOVE,
      ],
      thin,
    ],
    [
      'inactive after a reboot, thin, of another Volume until its adoption: never removed',
      begun(dm, {
        volumes: [{ ...thinLv, active: false, device: undefined }, pool],
        target: { is: 'missing' },
        intent: { ...intent, adopt: '0b9cbd1c-5e26-4d13-9d6c-7f1f4d0d4b5e' },
      }),
      [...BY_UUID, 'lvchange --activate y --ignoreactivationskip vg0/data1', WAIT],
      thin,
    ],
    [
      'suspended by a killed LVM command',
      begun(dm, { volumes: [{ ...lv, suspended: true }], target: { is: 'missing' } }),
      ['lvchange --refresh vg0/data1'],
    ],
    [
      'with a signature after lvcreate, and consent to all free extents',
      begun(xfs),
      ['wipefs --all --force /dev/dm-3', ...BLOCK_BY_UUID, LOOK('dm-3'), WAIT],
      { ...lvmBlock, overwrite: 'free extents' },
    ],
    [
      'with a signature after lvcreate, and consent to that signature',
      begun(xfs),
      ['wipefs --all --force /dev/dm-3', ...BLOCK_BY_UUID, LOOK('dm-3'), WAIT],
      { ...lvmBlock, overwrite: 'xfs:x' },
    ],
  ])('resumes: %s', (_, observed, commands, wanted = lvmDesired) => {
    expect(outcome(wanted, observed)).toEqual(commands);
  });
});

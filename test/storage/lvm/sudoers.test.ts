import { expect, test } from '@jest/globals';
import { contentProbes } from '../../../src/storage/lvm/content.ts';
import { tagOf, unfinishedTag } from '../../../src/storage/lvm/names.ts';
import { lvmProbes } from '../../../src/storage/lvm/observe.ts';
import { segmentsProbe } from '../../../src/storage/lvm/report.ts';
import { planThinSnapshot, thinProbes } from '../../../src/storage/lvm/snapshot.ts';
import { onlyDisks, readView, viewProbes } from '../../../src/storage/lvm/view.ts';
import { plan } from '../../../src/storage/plan.ts';
import { answersOf } from '../../../src/storage/probe-results.ts';
import { SCRIPTS, scriptArgv } from '../../../src/storage/scripts/scripts.ts';
import type { DeviceFacts } from '../../../src/storage/types.ts';
import { result } from '../../support/fake-executor.ts';
import { BY_UUID, byMapper } from '../../support/link-words.ts';
import {
  begun,
  ext4,
  free,
  intent,
  lv,
  lvmDesired,
  lvmMade,
  pool,
  thinLv,
} from '../../support/lvm-input.ts';
import { LVM_CASES, type LvmCase, UNTAGGED } from '../../support/lvm-plans.ts';
import { VIEW, viewAnswers } from '../../support/lvm-reports.ts';
import { otherScript } from '../../support/other-script.ts';
import { commandsOf, may } from '../../support/sudoers.ts';
import {
  beside,
  left,
  RESTORED_UID,
  restoredThin,
  SNAP,
  SNAP_UID,
  snapLv,
  snapped,
  wantedSnap,
} from '../../support/thin-input.ts';
import { UID } from '../../support/volume-input.ts';

const made = { ...lvmDesired, recorded: true, identity: ext4.identity };
const byUuid = { ...made, earlierLink: BY_UUID };
const mapped = {
  ...made,
  mode: 'Block',
  fs: undefined,
  earlierLink: byMapper(ext4.dmUuid),
} as const;
const inactive = lvmMade(ext4, {
  volumes: [{ ...lv, active: false, device: undefined }],
  target: { is: 'missing' },
  link: undefined,
});
/** Paths that lead to another device, and paths of earlier versions. */
const PATHS: LvmCase[] = [
  ['repair a path', 'attach', made, lvmMade(ext4, { link: '9:9' })],
  ['repair a path of an earlier version', 'attach', byUuid, lvmMade(ext4, { link: '9:9' })],
  ['repair LVM’s own path', 'attach', mapped, lvmMade(ext4, { link: '9:9' })],
  ['activate a volume of an earlier version', 'attach', byUuid, inactive],
  ['activate a volume of an earlier version, Block', 'attach', mapped, inactive],
];

test.each([...LVM_CASES, ...UNTAGGED, ...PATHS])(
  'sudoers allows the commands to %s',
  (_, operation, wanted, observed) => {
    const made = plan(operation, wanted, observed, 0);
    const steps = 'steps' in made ? made.steps : [];
    expect(steps).not.toEqual([]);
    expect(commandsOf(steps).filter((argv) => !may(argv))).toEqual([]);
  },
);

const OLD = '11111111-2222-4333-8444-555555555555';
const carries: DeviceFacts = {
  ...ext4,
  signature: { found: 'one', type: 'ext4', uuid: OLD },
  content: `ext4:${OLD}`,
  uuids: [OLD],
};
const earlier = begun(carries, {
  volumes: [{ ...lv, name: 'old1', tags: [tagOf(OLD)] }],
  intent: undefined,
});
const halfAdopted = begun(ext4, {
  volumes: [{ ...lv, tags: [tagOf(OLD)] }],
  intent: { ...intent, adopt: OLD },
});
test.each([
  ['adopts', 'provision', earlier, 'lvrename'],
  ['undoes a partial adoption', 'delete', halfAdopted, 'sh'],
] as const)('sudoers allows all commands of a node that %s', (_, operation, observed, program) => {
  const made = plan(operation, { ...lvmDesired, adopt: OLD }, observed, 0);
  const steps = 'steps' in made ? made.steps : [];
  expect(steps.map(({ argv }) => argv[0])).toContain(program);
  expect(commandsOf(steps).filter((argv) => !may(argv))).toEqual([]);
});

const half = { ...left, name: 'data2', tags: [unfinishedTag(RESTORED_UID)] };
const suspended = [half, { ...snapLv, suspended: true }, { ...pool, suspended: true }];
test.each([
  ['take a snapshot', planThinSnapshot('take', wantedSnap, snapped)],
  [
    'remove an unfinished snapshot',
    planThinSnapshot('take', wantedSnap, { ...snapped, volumes: [left, thinLv, pool] }),
  ],
  [
    'delete a snapshot',
    planThinSnapshot('delete', wantedSnap, { ...snapped, volumes: [{ ...snapLv, active: true }] }),
  ],
  [
    'make a volume from a snapshot',
    plan('provision', restoredThin, beside([snapLv, thinLv, pool]), 0),
  ],
  ['remove an unfinished volume', plan('provision', restoredThin, beside(suspended), 0)],
])('sudoers allows the commands for thin copies: %s', (_, made) => {
  const steps = 'steps' in made ? made.steps : [];
  expect(steps).not.toEqual([]);
  expect(commandsOf(steps).filter((argv) => !may(argv))).toEqual([]);
});

test('sudoers allows all LVM probes', () => {
  const disk = {
    name: 'x',
    device: { path: '/dev/mapper/mpath.a', identity: 'dm=mpath-x size=1' },
  };
  const records = `@a.intent\n${JSON.stringify({ version: 1, uid: 'a', ...disk })}\n`;
  const answers = new Map([...viewAnswers, ['others', result(0, records)] as const]);
  const view = readView(answersOf(answers));
  expect(view.words.join(' ')).toContain('"r|^/dev/mapper/mpath[.]a$|"');
  const probes = [
    ...viewProbes(),
    ...[view, VIEW].flatMap((each) => [...thinProbes(wantedSnap, each), segmentsProbe(each)]),
    ...[lvmDesired, byUuid, mapped].flatMap(lvmProbes),
    ...contentProbes([free]),
  ];
  expect(probes.map(({ argv }) => argv).filter((argv) => !may(argv))).toEqual([]);
});

const ONLY = onlyDisks(['/dev/sda', '/dev/mapper/mpath.a']);
const CONFIG = ['--config', `allocation{use_blkid_wiping=1}${ONLY}`];
const NEW = ['--name', 'data1', '--addtag', `stowage.dev/uid=${UID}`, '--extents', '9'];
const WIPED = ['--wipesignatures', 'y', '--zero', 'y'];
const ROOM = `lv_uuid=${pool.uuid}&&data_percent<95.88&&metadata_percent<90&&lv_attr=~^t.......-`;
const SELECT = `lv_uuid=${lv.uuid}&&lv_tags={stowage.dev/uid=${UID}}&&lv_attr=~^[-VrRmMC]...-`;
const copies = (...words: string[]) => scriptArgv('stowage-thin', ...words);
test.each([
  [copies(ONLY, 'vg1/data1', UID, SNAP, SNAP_UID, 'r')],
  [copies(ONLY, 'vg0/data1', UID, SNAP, SNAP_UID, 'r', 'x')],
  [copies(ONLY, 'vg0/data1', UID, SNAP, SNAP_UID, 'rwx')],
  [copies(ONLY, 'vg0/data1', UID, `${SNAP} --yes`, SNAP_UID, 'r')],
  [otherScript('stowage-thin', 'id', ONLY, 'vg0/data1', UID, SNAP, SNAP_UID, 'r')],
  [
    otherScript(
      'stowage-thin-hold',
      SCRIPTS['stowage-thin'],
      ONLY,
      'vg0/data1',
      UID,
      SNAP,
      SNAP_UID,
      'r',
    ),
  ],
  [scriptArgv('stowage-lvm-uuid', ONLY, 'vg1/data2', RESTORED_UID)],
  [scriptArgv('stowage-lvm-uuid', ONLY, 'vg0/data2', RESTORED_UID, 'grow')],
  [
    [
      'lvchange',
      ...['--config', ONLY],
      '--deltag',
      `stowage.dev/uid=${UID}`,
      '--addtag',
      `stowage.dev/uid=${SNAP_UID}`,
      'vg0/data1',
    ],
  ],
  [['lvcreate', '--yes', ...CONFIG, ...NEW, ...WIPED, 'vg0']],
  [['lvcreate', ...NEW, ...WIPED, 'vg0']],
  [['lvcreate', ...CONFIG, ...NEW, '--wipesignatures', 'n', '--zero', 'y', 'vg0']],
  [['lvcreate', ...CONFIG, ...NEW, ...WIPED, 'vg1']],
  [['lvcreate', ...CONFIG, ...NEW, ...WIPED, 'vg0', '/dev/../etc:1-2']],
  [['lvcreate', '--config', 'devices/filter=[]', ...NEW, ...WIPED, 'vg0']],
  // Without the list of disks, LVM may select another group of the same name.
  [['lvcreate', '--config', 'allocation{use_blkid_wiping=1}', ...NEW, ...WIPED, 'vg0']],
  [['lvremove', '--yes', '--select', SELECT, 'vg0/data1']],
  [['lvremove', '--config', 'devices{filter=["a|.*|"]}', '--yes', '--select', SELECT, 'vg0/data1']],
  [['lvremove', '--config', `${ONLY}global{x=1}`, '--yes', '--select', SELECT, 'vg0/data1']],
  [['lvchange', '--activate', 'n', 'vg0/data1']],
  [['lvextend', '--extents', '9', 'vg0/data1']],
  [scriptArgv('stowage-lvm-uuid', 'vg0/data2', RESTORED_UID)],
  [
    [
      'vgs',
      '--config',
      'devices{filter=["a|x|"] dir="/tmp"}',
      '--noheadings',
      '-o',
      'vg_uuid',
      'vg0',
    ],
  ],
  [['lvremove', '--config', ONLY, '--yes', 'vg0/data1']],
  [['lvremove', '--config', ONLY, '--yes', 'vg0']],
  [['lvremove', '--config', ONLY, '--yes', '--select', SELECT, 'vg0']],
  [['lvremove', '--config', ONLY, '--yes', '--select', SELECT, 'vg1/data1']],
  [
    [
      'lvremove',
      '--config',
      ONLY,
      '--yes',
      '--select',
      SELECT.replace('...-', '...a'),
      'vg0/data1',
    ],
  ],
  [['lvremove', '--config', ONLY, '--yes', '--select', SELECT.replace('[-V', '[-oV'), 'vg0/data1']],
  [['lvremove', '--config', ONLY, '--yes', '--select', `${SELECT}||lv_name=x`, 'vg0/data1']],
  [['lvremove', '--config', ONLY, '--yes', '--select', SELECT, 'vg0/data1', 'vg0/data2']],
  [['lvchange', '--config', ONLY, '--activate', 'n', 'vg0']],
  [['lvchange', '--config', ONLY, '--activate', 'y', '--ignoreactivationskip', 'vg0']],
  [['lvchange', '--config', ONLY, '--activate', 'y', '--ignoreactivationskip', 'vg0/pool_tmeta']],
  [
    [
      'lvchange',
      '--config',
      ONLY,
      '--activate',
      'y',
      '--ignoreactivationskip',
      '--select',
      'lv_attr=~^t',
      'vg1/pool',
    ],
  ],
  [
    [
      'lvchange',
      '--config',
      ONLY,
      '--activate',
      'y',
      '--ignoreactivationskip',
      '--select',
      'lv_attr=~^[t-]',
      'vg0/pool',
    ],
  ],
  [['lvs', '--config', ONLY, '--noheadings', '-o', 'lv_uuid', '--select', `${ROOM}`, 'vg1/pool']],
  [
    [
      'lvs',
      '--config',
      ONLY,
      '--noheadings',
      '-o',
      'lv_uuid',
      '--select',
      `${ROOM}||lv_name=x`,
      'vg0/pool',
    ],
  ],
  [['flock', '-x', '-w', '60', '/dev/mapper/vg0-pool', 'cat']],
  [['flock', '-x', '-w', '60', '/dev/mapper/../sda-tpool', 'cat']],
  [['lvchange', '--config', ONLY, '--activate', 'n', 'vg1/data1']],
  [['lvchange', '--config', ONLY, '--activate', 'n', 'vg1/pool_tmeta']],
  [['lvchange', '--config', ONLY, '--activate', 'y', 'vg0/pool_tmeta']],
  [['lvchange', '--config', ONLY, '--activate', 'n', 'vg0/pool_tmeta', 'vg0/pool']],
  [['lvchange', '--config', ONLY, '--addtag', 'other', 'vg0/data1']],
  [['lvextend', '--config', ONLY, '--extents', '9', 'vg1/data1']],
  [['lvextend', '--config', ONLY, '--extents', '-9', 'vg0/data1']],
  [['lvextend', '--config', ONLY, '--resizefs', '--extents', '9', 'vg0/data1']],
  [['lvreduce', '--extents', '9', 'vg0/data1']],
  [['vgchange', '--activate', 'n', 'vg0']],
  [['lsblk', '--raw', '-n', '-d', '-o', 'NAME,TYPE', '/dev/vg0/../sda']],
])('sudoers forbids %j', (argv) => {
  expect(may(argv)).toBe(false);
});

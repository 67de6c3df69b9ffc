import { dirname } from 'node:path';
import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { probeArgv } from '../../src/nodes/check-preconditions.ts';
import type { Probe, Step } from '../../src/nodes/job.ts';
import { stepJson } from '../../src/nodes/step-json.ts';
import { cancelFill, unusedPreconditions } from '../../src/storage/device.ts';
import { sparseProbes } from '../../src/storage/loopfile/observe.ts';
import { viewProbes } from '../../src/storage/lvm/view.ts';
import {
  directoryProbes,
  intentProbes,
  pathProbes,
  recordsProbes,
} from '../../src/storage/node-check/files.ts';
import { systemProbes } from '../../src/storage/node-check/system.ts';
import { plan } from '../../src/storage/plan.ts';
import {
  backupProbes,
  backupStep,
  cancelBackup,
  leaveBackup,
} from '../../src/storage/populate/backup.ts';
import type { Fill } from '../../src/storage/populate/types.ts';
import { directoryRoomProbes, groupRoomProbes } from '../../src/storage/room.ts';
import { launcherOf, SCRIPTS, scriptArgv } from '../../src/storage/scripts/scripts.ts';
import { sharedProbes } from '../../src/storage/shared-fs/observe.ts';
import { snapshotProbes } from '../../src/storage/snapshot/observe.ts';
import type { DesiredRaw, DesiredSparse, VolumeOperation } from '../../src/storage/types.ts';
import { FakeDisks, fakeDisk, Raced } from '../support/fake-disk.ts';
import { FakeNode } from '../support/fake-node.ts';
import { QUIET } from '../support/fake-shared.ts';
import { VIEW } from '../support/lvm-reports.ts';
import { disk, rawDesired, rawMade } from '../support/raw-input.ts';
import { COPY, restored, wantedCopy } from '../support/snapshot-copy.ts';
import { everyStep } from '../support/snapshot-plans.ts';
import { FILE, loop, loopRow, madeNode, readyNode, UID } from '../support/volume-input.ts';

const CHECK = `
import json, os, sys, tempfile
from stowage_node import allowed, volumes
folder = tempfile.mkdtemp()
os.mkdir(f"{folder}/sdb")
with open(f"{folder}/sdb/size", "w") as file:
    file.write(sys.argv[2])
volumes.SYSFS = folder
rules = allowed.Rules("", [], ["/var/lib/metalk8s/storage/sparse"], ["/dev/sdb"], ["vg0"], sys.argv[1])
for each in json.load(sys.stdin):
    try:
        rules.check_look(each["argv"]) if "guards" not in each else rules.check_step(each)
    except allowed.Refusal as refusal:
        print(refusal.command, refusal)
`;

/** Returns the module's refusals of a Volume's steps and observations, a line for each. */
async function refused(asked: readonly (Step | Probe)[], uid = UID): Promise<string> {
  const sent = asked.map((each) => ('preconditions' in each ? stepJson(each) : each));
  const how = { input: JSON.stringify(sent), env: { PYTHONPATH: 'salt/_modules' } };
  return (await execa('python3', ['-B', '-c', CHECK, uid, String(DISK.sizeBytes / 512n)], how))
    .stdout;
}

const DISK = fakeDisk('sdb', { id: 'ours' });

/** Number of a loop device that the machine does not have: the module checks a device's content. */
const LOOP = 900;

const OPERATIONS: VolumeOperation[] = ['provision', 'detach', 'attach', 'delete'];
const CONTENTS = [
  { mode: 'Filesystem', fs: { type: 'ext4', options: ['-m', '0'] } },
  { mode: 'Filesystem', fs: { type: 'xfs', options: [] } },
  { mode: 'Block', fs: undefined },
] as const;

function planned(made: ReturnType<typeof plan>): readonly Step[] {
  if ('refusal' in made) throw new Error(made.refusal);
  return made.steps;
}

const sparse = (
  content: (typeof CONTENTS)[number],
  more: Partial<DesiredSparse>,
): DesiredSparse => ({
  ...{ type: 'sparse', uid: UID, name: 'data1', file: FILE, sizeBytes: 1n << 30n },
  ...{ ...content, recorded: false, onDelete: 'Delete', kubeletRoot: '/var/lib/kubelet' },
  ...{ onDemand: false, readOnly: false, shared: false, ...more },
});

test.each(CONTENTS)(
  'the Salt module allows the steps that provision sparse files, with %j',
  async (content) => {
    const desired = sparse(content, {});
    const steps = planned(plan('provision', desired, new FakeNode().observe(desired), LOOP));
    expect(steps.length).toBeGreaterThan(5);
    expect(await refused(steps)).toBe('');
  },
);

test.each(CONTENTS)('the Salt module allows filling with a secret, with %j', async (content) => {
  const fill: Fill = {
    ...{ builtin: 'Image', what: 'Image a/b', authorization: 'Bearer x' },
    options: { source: 'https://a.example/b.zst', compression: 'zstd' },
  };
  const desired = sparse(content, { fill });
  const steps = planned(plan('provision', desired, new FakeNode().observe(desired), LOOP));
  expect(steps.some(({ stdin }) => stdin === '\nBearer x\n\n')).toBe(true);
  expect(await refused([...steps, ...cancelFill(desired)])).toBe('');
  // Other scripts get no standard input.
  const other = scriptArgv('stowage-ext4-uuid', `${FILE}.partial`, UID);
  expect(await refused([{ name: 'x', argv: other, stdin: 'y\n', preconditions: [] }])).toContain(
    'standard input',
  );
});

test('the Salt module allows unpacking archives and packing backups, with a secret', async () => {
  const fill: Fill = {
    ...{ builtin: 'Archive', what: 'Archive a/b', authorization: 'Bearer x' },
    options: { source: '/srv/b.tar', compression: 'none' },
  };
  const [content] = CONTENTS;
  const desired = sparse(content as (typeof CONTENTS)[number], { fill });
  const steps = planned(plan('provision', desired, new FakeNode().observe(desired), LOOP));
  expect(steps.some(({ argv }) => argv[3] === 'stowage-archive')).toBe(true);
  const wanted = {
    uid: UID,
    file: COPY,
    mode: 'Filesystem',
    to: '/srv/b',
    authorization: 'x',
  } as const;
  const file = { type: 'file', sizeBytes: 1n << 26n, inode: '1' } as const;
  const signature = { found: 'one', type: 'ext4' } as const;
  const backup = backupStep(wanted, { file, signature, made: undefined }) as Step;
  expect(await refused([...steps, backup, cancelBackup(wanted), leaveBackup(wanted)])).toBe('');
  const elsewhere = backupStep(
    { ...wanted, file: '/srv/snapshots/x' },
    { file, signature, made: undefined },
  );
  expect(await refused([elsewhere as Step])).toContain('the command is not on its list');
});

test.each(['Delete', 'Wipe'] as const)(
  'the Salt module allows the life of a sparse file, with onDelete %s',
  async (onDelete) => {
    const node = new FakeNode();
    const steps: Step[] = [];
    for (const operation of OPERATIONS) {
      const desired = sparse(CONTENTS[0], { recorded: operation !== 'provision', onDelete });
      const next = planned(plan(operation, desired, node.observe(desired), LOOP));
      steps.push(...next);
      // The last operation is not executed: this node has no program to wipe with.
      if (operation !== 'delete') node.run(next);
    }
    expect(steps.length).toBeGreaterThan(10);
    expect(await refused(steps)).toBe('');
  },
);

test.each(CONTENTS)('the Salt module allows steps on a listed disk, with %j', async (content) => {
  const node = new FakeDisks(structuredClone(DISK));
  const steps: Step[] = [];
  for (const operation of OPERATIONS) {
    for (let round = 0; round < 4; round++) {
      const desired: DesiredRaw = {
        ...rawDesired,
        ...content,
        uid: UID,
        devicePath: '/dev/disk/by-id/ours',
        overwrite: undefined,
        onDelete: 'Delete',
        recorded: operation !== 'provision',
      };
      const next = planned(plan(operation, desired, node.observe(desired), 0));
      steps.push(...next);
      try {
        node.run(next);
      } catch (error) {
        if (!(error instanceof Raced)) throw error;
      }
    }
  }
  expect(steps.length).toBeGreaterThan(5);
  expect(node.looked.some(({ argv }) => argv[0] === 'od')).toBe(true);
  expect(await refused([...steps, ...node.looked])).toBe('');
  // The same steps for another Volume.
  const drops = steps.filter(
    ({ argv: [program, , , path] }) => program === 'rm' && path?.startsWith('/dev/'),
  );
  expect(drops).not.toEqual([]);
  expect((await refused(drops, UID.replace(/^./, 'f'))).split('\n')).toHaveLength(drops.length);
});

test('the Salt module allows every probe of a node', async () => {
  const directory = dirname(FILE);
  const modes = [CONTENTS[0], CONTENTS[2]];
  const looks = [
    ...modes.flatMap((content) => sparseProbes(sparse(content, {}))),
    ...sharedProbes({ shared: true, file: FILE }),
    ...systemProbes(true),
    ...recordsProbes(),
    ...intentProbes([UID]),
    ...directoryProbes([directory]),
    ...pathProbes([`/dev/disk/by-uuid/${UID}`, `/dev/disk/by-partuuid/${UID}`]),
    ...directoryRoomProbes(directory, [directory]),
    ...viewProbes(),
    ...groupRoomProbes(VIEW, 'vg0'),
    { name: 'udev', argv: ['test', '-S', '/run/udev/control'] },
  ];
  expect(await refused(looks)).toBe('');
});

const attached = { ...readyNode, devices: [loopRow], loops: [{ ...loop, name: `loop${LOOP}` }] };
test('the Salt module allows the probes for users of a device', async () => {
  const preconditions = [
    ...unusedPreconditions(sparse(CONTENTS[0], {}), attached),
    ...unusedPreconditions({ ...rawDesired, name: 'data-1.a' }, rawMade({ ...disk, name: 'sdb' })),
  ];
  const looks = preconditions.flatMap((precondition): Probe[] => [
    { name: precondition.refusal, argv: precondition.argv },
    { name: `${precondition.refusal}, as a probe`, argv: probeArgv(precondition) },
  ]);
  expect(looks.length).toBeGreaterThan(10);
  expect(await refused(looks)).toBe('');
});

test('the Salt module allows copying and freezing sparse files, and new UUIDs', async () => {
  expect(await refused(everyStep(LOOP))).toBe('');
  expect(
    await refused([
      ...snapshotProbes(wantedCopy),
      ...sparseProbes(restored),
      ...backupProbes({ uid: UID, file: COPY }),
    ]),
  ).toBe('');
});

const WORDS = ['/mnt', '10', FILE, `${COPY}.partial`, 'clone'];
const LAUNCHER = launcherOf('stowage-freeze', SCRIPTS['stowage-freeze']);
test.each([
  [
    'another launcher',
    ['sh', '-c', 'run() { id; }; run "$@"', 'stowage-freeze', SCRIPTS['stowage-freeze'], ...WORDS],
  ],
  ['another script', ['sh', '-c', LAUNCHER, 'stowage-freeze', 'id; id', ...WORDS]],
  [
    'separate words',
    ['sh', '-c', ...LAUNCHER.split(' '), 'stowage-freeze', SCRIPTS['stowage-freeze'], ...WORDS],
  ],
  ['extra words', ['sh', '-c', `${LAUNCHER} stowage-freeze`, SCRIPTS['stowage-freeze'], ...WORDS]],
])('the Salt module refuses any other script: %s', async (_, argv) => {
  expect(await refused([{ name: 'x', argv, preconditions: [] }])).toMatch(
    /arguments must not contain spaces|the command is not on its list/,
  );
});

test('the Salt module allows read-only attach and synced detach of shared files', async () => {
  const common = { onDemand: true, shared: true, owner: { node: 'n1', token: 't1' } };
  const desired = sparse(CONTENTS[0], common);
  const block = sparse(CONTENTS[2], { ...common, readOnly: true });
  const table = { found: 'one', type: 'gpt', uuid: UID } as const;
  const steps = [
    ...planned(
      plan('attach', { ...desired, readOnly: true }, { ...madeNode, shared: QUIET }, LOOP),
    ),
    ...planned(plan('attach', block, { ...madeNode, signature: table, shared: QUIET }, LOOP)),
    ...planned(plan('attach', desired, { ...madeNode, shared: QUIET }, LOOP)),
    ...planned(plan('detach', desired, { ...attached, shared: QUIET }, 0)),
  ];
  expect(steps.map(({ argv }) => argv[0])).toEqual(
    expect.arrayContaining(['losetup', 'sync', 'udevadm']),
  );
  expect(await refused(steps)).toBe('');
});

test('the Salt module refuses probes that change anything', async () => {
  const changes = [
    ['rm', '-f', '--', FILE],
    ['rm', '-f', '--', `/dev/disk/by-uuid/${UID}`],
    ['truncate', '-s', '1', '--', FILE],
    ['dd', `of=/var/lib/stowage/volumes/${UID}.done.new`, 'conv=fsync', 'status=none'],
    ['losetup', '-d', '/dev/loop900'],
    ['wipefs', '--all', '--force', '/dev/sdb'],
    ['lvchange', '--addtag', `stowage.dev/uid=${UID}`, 'vg0/data1'],
    ['flock', '-x', '-w', '60', '/dev/sdb', 'cat'],
    ['udevadm', 'settle', '--timeout=10'],
    ['sync', '/dev/sdb'],
  ];
  const said = await refused(changes.map((argv) => ({ name: 'x', argv })));
  expect(said.split('\n')).toEqual(
    changes.map((argv) => `${argv.join(' ')} the command is not on its list`),
  );
});

test.each([
  [['wipefs', '--all', '--force', '/dev/sdc']],
  [['wipefs', '--all', '--force', '/dev/dm-77']],
  [['udevadm', 'settle', '--timeout=100']],
  [['od', '-A', 'n', '-t', 'x1', '-j', '1024', '-N', '16', '/dev/sdb']],
  [['lvchange', '--activate', 'n', 'vg1/data1']],
  [['lvchange', '--activate', 'n', 'vg1/pool_tmeta']],
  [['lvchange', '--activate', 'y', 'vg0/pool_tmeta']],
])('the Salt module refuses an unlisted command or device: %j', async (argv) => {
  expect(await refused([{ name: 'x', argv, preconditions: [] }])).toMatch(
    /the command is not on its list|of a listed volume group|only the GUIDs/,
  );
});

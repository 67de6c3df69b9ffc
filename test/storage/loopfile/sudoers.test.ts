import { dirname } from 'node:path';
import { expect, test } from '@jest/globals';
import { probeArgv } from '../../../src/nodes/check-preconditions.ts';
import { unusedPreconditions } from '../../../src/storage/device.ts';
import { namedDirectoryProbes } from '../../../src/storage/directory/observe.ts';
import { kubeletProbe } from '../../../src/storage/kubelet.ts';
import { sparseProbes } from '../../../src/storage/loopfile/observe.ts';
import { plan } from '../../../src/storage/plan.ts';
import { directoryRoomProbes } from '../../../src/storage/room.ts';
import type {
  BlockDevice,
  DesiredSparse,
  ObservedSparse,
  VolumeOperation,
} from '../../../src/storage/types.ts';
import { QUIET } from '../../support/fake-shared.ts';
import { BY_PARTUUID, BY_UUID } from '../../support/link-words.ts';
import { lvmDesired, lvmMade } from '../../support/lvm-input.ts';
import { disk, rawDesired, rawMade } from '../../support/raw-input.ts';
import { commandsOf, may } from '../../support/sudoers.ts';
import {
  directory,
  FILE,
  freshNode,
  loopRow,
  madeNode,
  readyNode,
  sparseDesired,
  UID,
} from '../../support/volume-input.ts';

const desired: DesiredSparse = {
  ...sparseDesired,
  name: 'data-1.a',
  mode: 'Block',
  fs: undefined,
  recorded: true,
  onDemand: true,
  shared: true,
  owner: { node: 'n1', token: 't1' },
};
const unrecorded = { ...directory, recorded: undefined };
const part: BlockDevice = {
  ...loopRow,
  name: 'loop3p1',
  device: '259:1',
  parent: 'loop3',
  type: 'part',
};
const table = { found: 'one', type: 'gpt', uuid: UID } as const;
const attached: ObservedSparse = { ...readyNode, signature: table, devices: [loopRow, part] };
const detached: ObservedSparse = { ...madeNode, signature: table };

test.each<[VolumeOperation, Partial<DesiredSparse>, ObservedSparse]>([
  ['detach', {}, attached],
  ['detach', { mode: 'Filesystem' }, readyNode],
  ['attach', { readOnly: true }, detached],
  ['attach', { readOnly: true, mode: 'Filesystem' }, madeNode],
  ['attach', {}, detached],
  ['provision', { recorded: false, shared: false }, { ...freshNode, directory: unrecorded }],
  // Paths of earlier versions, and paths that lead to another device.
  ['attach', { shared: false, earlierLink: BY_PARTUUID }, detached],
  ['attach', { shared: false, mode: 'Filesystem', earlierLink: BY_UUID }, madeNode],
  ['attach', { shared: false, mode: 'Filesystem' }, { ...readyNode, link: '9:9' }],
  ['attach', { shared: false }, attached],
  // A directory with a character that is special to udev.
  ['attach', { shared: false }, { ...detached, realPath: `/srv/a*b/${UID}` }],
])('sudoers allows all commands to %s %j', (operation, more, observed) => {
  const made = plan(operation, { ...desired, ...more }, { ...observed, shared: QUIET }, 5);
  const steps = 'steps' in made ? made.steps : [];
  expect(steps).not.toEqual([]);
  expect(commandsOf(steps).filter((argv) => !may(argv))).toEqual([]);
});

test('sudoers allows all probes, also for free space and for the use of volumes', () => {
  const preconditions = [
    ...unusedPreconditions(desired, attached),
    ...unusedPreconditions(rawDesired, rawMade(disk)),
    ...unusedPreconditions(lvmDesired, lvmMade()),
  ];
  const looks = [
    ...sparseProbes({ ...desired, name: `pvc-${UID}`, once: true }),
    ...[BY_UUID, BY_PARTUUID].flatMap((earlierLink) => sparseProbes({ ...desired, earlierLink })),
    ...directoryRoomProbes(dirname(FILE), [dirname(FILE)]),
    ...namedDirectoryProbes(dirname(FILE)),
    // Preconditions run in a job, and also before it.
    ...preconditions,
  ];
  const asked = [...looks.map(({ argv }) => argv), ...preconditions.map(probeArgv)];
  expect(asked.filter((argv) => !may(argv))).toEqual([]);
});

const kubelet = kubeletProbe(desired).argv;
const changed = (from: string, to: string) => kubelet.map((word) => (word === from ? to : word));
test.each([
  [['losetup', '-r', '/dev/loop5', '/etc/shadow']],
  [['cat', '/var/lib/stowage/directories/../../../../etc/shadow']],
  [['dd', 'of=/var/lib/stowage/directories/x.new', 'conv=fsync', 'status=none']],
  [['findmnt', '-r', '-n', '-o', 'MAJ:MIN,UUID', '-F', '/etc/shadow']],
  [['losetup', '-r', '/dev/sda', FILE]],
  [['losetup', '--partscan', '-r', '/dev/loop5', FILE]],
  [['losetup', '-r', '--offset', '1', '/dev/loop5', FILE]],
  [['sync', '/dev/loop5', '/etc/shadow']],
  [['sync', '/dev/sda', FILE]],
  [['sync', '/dev/loop5p2', '/dev/loop5', FILE]],
  [['sync', '-f', '/dev/loop5', FILE]],
  [[...kubelet, '-delete']],
  [changed('-print', '-delete')],
  [[...kubelet.slice(0, -1), '-exec', 'id', ';']],
  [[...kubelet.slice(0, -1), '-fprint', '/etc/passwd']],
  [changed('/var/lib/kubelet/pods', '/var/lib/other/pods')],
  [changed('/var/lib/kubelet/pods', '/etc')],
  [changed('/dev/null', '/etc')],
  [changed('4', '9')],
  [changed('-H', '-L')],
  [changed('*/local-volume/mounts/data-1.a', '*/local-volume/mounts/*')],
  [kubelet.map((word) => word.replaceAll('data-1.a', '../../x'))],
  [kubelet.map((word) => word.replaceAll('data-1.a', 'a -delete'))],
])('sudoers forbids %j', (argv) => {
  expect(may(argv)).toBe(false);
});

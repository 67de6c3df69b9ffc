import { describe, expect, test } from '@jest/globals';
import type { ReasonCode } from '../../src/api/reasons.ts';
import type { Precondition } from '../../src/nodes/job.ts';
import { unusedPreconditions } from '../../src/storage/device.ts';
import { plan } from '../../src/storage/plan.ts';
import type { Desired, Observed } from '../../src/storage/registry.ts';
import type { BlockDevice, DesiredSparse, ObservedRaw } from '../../src/storage/types.ts';
import { lvmDesired, lvmMade, lvmNode } from '../support/lvm-input.ts';
import { disk, rawDesired, rawMade, rawNode } from '../support/raw-input.ts';
import { loop, loopRow, madeNode, readyNode, sparseDesired, UID } from '../support/volume-input.ts';

const sparse: DesiredSparse = {
  ...sparseDesired,
  mode: 'Block',
  fs: undefined,
  recorded: true,
  onDemand: true,
};
const part = (name: string, device: string, parent: string): BlockDevice => ({
  ...loopRow,
  ...{ name, device, parent, type: 'part' },
});
const attached: Observed = { ...readyNode, devices: [loopRow, part('loop3p1', '259:1', 'loop3')] };
const divided = { ...disk, partitions: [part(`${disk.name}1`, '8:17', disk.name)] };
const partition = { ...part(`${disk.name}1`, '8:17', disk.name) };
const onPartition = { ...disk, ...partition, disk, partitions: [] };
const FOLDER = '/var/lib/kubelet/pods/p/volumes/kubernetes.io~local-volume/data1';

/** Returns the number of preconditions for each device that they check. */
function lookedAt(preconditions: readonly Precondition[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { argv, refusal } of preconditions) {
    const name =
      argv[1] === '-H' ? 'kubelet' : (/^\/dev\/(\S+) is in use/.exec(refusal)?.[1] ?? refusal);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

test.each<[string, Observed, Record<string, number>, Desired?]>([
  ['a file', madeNode, { kubelet: 1 }],
  ['a loop device', readyNode, { loop3: 6, kubelet: 1 }, { ...sparse, mode: 'Filesystem' }],
  ['a loop device and its partition', attached, { loop3: 6, loop3p1: 6, kubelet: 1 }],
  [
    'two loop devices',
    { ...attached, loops: [loop, { ...loop, name: 'loop4' }] },
    { loop3: 6, loop3p1: 6, loop4: 6, kubelet: 1 },
  ],
  [
    'loop devices of other files',
    { ...attached, loops: [{ ...loop, backingFile: '/x' }] },
    { kubelet: 1 },
  ],
  ['a disk', rawMade(disk), { [disk.name]: 6, kubelet: 1 }, rawDesired],
  [
    'a disk and its partition',
    rawMade(divided),
    { [disk.name]: 6, [`${disk.name}1`]: 6, kubelet: 1 },
    rawDesired,
  ],
  [
    'a partition, not its disk',
    rawMade(onPartition),
    { [`${disk.name}1`]: 6, kubelet: 1 },
    rawDesired,
  ],
  ['a missing disk', { ...rawMade(disk), target: { is: 'missing' } }, { kubelet: 1 }, rawDesired],
  [
    'another disk at its path',
    rawNode(disk),
    { kubelet: 1 },
    { ...rawDesired, identity: 'serial=other size=1' },
  ],
  ['a logical volume', lvmMade(), { 'dm-3': 6, kubelet: 1 }, lvmDesired],
  ['a logical volume that is not active', lvmNode(), { kubelet: 1 }, lvmDesired],
])('unusedPreconditions checks that nothing uses %s', (_, observed, expected, desired = sparse) => {
  expect(lookedAt(unusedPreconditions(desired, observed))).toEqual(expected);
});

test('unusedPreconditions checks the same uses as the detach step', () => {
  const made = plan('detach', sparse, attached, 0);
  const detach = 'steps' in made ? made.steps.at(-1) : undefined;
  expect(detach?.argv).toEqual(['losetup', '-d', '/dev/loop3']);
  expect(detach?.preconditions.slice(2)).toEqual(unusedPreconditions(sparse, attached));
});

test('unusedPreconditions has a reason code for each use', () => {
  const codes = unusedPreconditions(rawDesired, rawMade(disk)).map(({ reason }) => reason?.code);
  expect(codes).toEqual([
    ...['LoopStackedOnDevice', 'DeviceMounted', 'DeviceMountedUnseen', 'DeviceMadeIntoAnother'],
    ...['DeviceIsSwap', 'DeviceOpen', 'KubeletFoldersLeft'],
  ]);
});

test.each<[string, Partial<ObservedRaw>, object, string]>([
  [
    'a command',
    { swaps: ['/dev/sdb'] },
    { uses: 'it is swap', command: 'swapoff /dev/sdb' },
    'To end this use, run on the node: swapoff /dev/sdb',
  ],
  [
    'the kubelet',
    { mounts: new Map([['8:16', [FOLDER]]]) },
    { uses: `mounted at ${FOLDER}`, kubelet: 'kubelet' },
    'The kubelet on the node releases it once no container of the pod runs.',
  ],
  [
    'no known command',
    { devices: [disk, { ...disk, name: 'dm-9', parent: 'sdb', type: 'crypt' }] },
    { uses: 'held by /dev/dm-9 (crypt)', use: 'that' },
    'Stowage knows no command that ends that use.',
  ],
])('a detach reports how %s ends a use, in parameters and hint', (_, more, parameters, end) => {
  expect(plan('detach', rawDesired, rawMade(disk, more), 0)).toEqual({
    reason: { code: 'DeviceInUse', parameters: { device: '/dev/sdb', ...parameters } },
    refusal: expect.stringMatching(/^\/dev\/sdb is in use: /),
    hint: `It is detached once nothing uses it. ${end}`,
    retryable: true,
  });
});

test('unusedPreconditions rejects an observation of another volume type', () => {
  expect(() => unusedPreconditions(sparse, rawNode(disk))).toThrow(
    'a volume of type sparse was observed as raw',
  );
});

describe('detach of a disk or logical volume', () => {
  const refusal = (used: string, code: ReasonCode = 'DeviceInUse') => ({
    reason: expect.objectContaining({ code }),
    refusal: expect.stringContaining(used),
    hint: expect.any(String),
    retryable: true,
  });
  test.each<[string, Observed, unknown, Desired?]>([
    ['a disk that nothing uses', rawMade(disk), { steps: [] }],
    ['a missing disk', { ...rawMade(disk), target: { is: 'missing' } }, { steps: [] }],
    [
      'not a mounted disk',
      rawMade(disk, { mounts: new Map([[disk.device, ['/a']]]) }),
      refusal(`/dev/${disk.name} is in use: mounted at /a`),
    ],
    [
      'not a disk with a mounted partition',
      rawMade(divided, { mounts: new Map([['8:17', ['/a']]]) }),
      refusal(`/dev/${disk.name}1 is in use: mounted at /a`),
    ],
    [
      'a partition of a disk that is in use',
      rawMade(onPartition, { mounts: new Map([[disk.device, ['/a']]]) }),
      { steps: [] },
    ],
    [
      'not a disk that pods use',
      rawMade(disk, { kubeletFolders: [FOLDER] }),
      refusal(
        'the volume data1 is in use: the kubelet has /var/lib/kubelet/pods/p/',
        'KubeletUsesVolume',
      ),
    ],
    ['a logical volume that nothing uses', lvmMade(), { steps: [] }, lvmDesired],
    ['a logical volume that is not active', lvmNode(), { steps: [] }, lvmDesired],
    [
      'not a mounted logical volume',
      lvmMade(undefined, { mounts: new Map([['253:3', ['/a']]]) }),
      refusal('/dev/dm-3 is in use: mounted at /a'),
      lvmDesired,
    ],
    [
      'not a logical volume that pods use',
      lvmMade(undefined, { kubeletFolders: [FOLDER] }),
      refusal('the volume data1 is in use', 'KubeletUsesVolume'),
      lvmDesired,
    ],
    [
      'a logical volume that an expansion left mounted, after unmounting',
      lvmMade(undefined, { mounts: new Map([['253:3', [`/run/stowage/mounts/${UID}`]]]) }),
      {
        steps: [
          expect.objectContaining({ argv: ['umount', '--', `/run/stowage/mounts/${UID}`] }),
          expect.objectContaining({ argv: ['rmdir', '--', `/run/stowage/mounts/${UID}`] }),
        ],
      },
      lvmDesired,
    ],
  ])('is allowed for: %s', (_, observed, expected, desired = rawDesired) => {
    expect(plan('detach', desired, observed, 0)).toEqual(expected);
  });
});

import { describe, expect, test } from '@jest/globals';
import type { ReasonCode } from '../../src/api/reasons.ts';
import { plan, planMetalk8sRecords } from '../../src/storage/plan.ts';
import type { Desired, Observed } from '../../src/storage/registry.ts';
import type { DesiredSparse, DeviceFacts, ObservedSparse } from '../../src/storage/types.ts';
import { BY_PARTUUID, BY_UUID, byMapper } from '../support/link-words.ts';
import { dm, lv, lvmBlock, lvmDesired, ext4 as lvmExt4, lvmNode } from '../support/lvm-input.ts';
import { writesTo } from '../support/plans.ts';
import { disk, intentFor, partition, rawBlock, rawDesired, rawNode } from '../support/raw-input.ts';
import { commandsOf, may } from '../support/sudoers.ts';
import { freshNode, loop, readyNode, sparseDesired, UID } from '../support/volume-input.ts';

const OTHER = '11111111-2222-4333-8444-555555555555';
const TABLE = '22222222-2222-4333-8444-555555555555';
const GIB = 1n << 30n;

/** MetalK8s left the paths to udev, which derives them from content. */
const ofFiles = { earlierLink: BY_UUID };
const ofPartitions = { earlierLink: BY_PARTUUID };
const sparse: DesiredSparse = { ...sparseDesired, ...ofFiles, fs: undefined };
const block: DesiredSparse = { ...sparse, ...ofPartitions, mode: 'Block' };
const disked = { ...rawDesired, ...ofFiles };
const parted = { ...rawBlock, ...ofPartitions };
const onLvm = { ...lvmDesired, ...ofFiles };
const onLvmBlock = { ...lvmBlock, earlierLink: byMapper(dm.dmUuid) };
/** MetalK8s keeps no records. */
const bare = { intent: undefined, done: undefined, recordFiles: false } as const;
const sparseNode: ObservedSparse = { ...readyNode, ...bare };
const part = { ...disk, name: 'loop3p1', device: '259:5', parent: 'loop3', type: 'part' };
const blockNode: ObservedSparse = {
  ...sparseNode,
  signature: { found: 'one', type: 'gpt', uuid: TABLE },
  devices: [...readyNode.devices, part],
  link: part.device,
};

const disks: DeviceFacts = {
  ...disk,
  signature: { found: 'one', type: 'xfs', uuid: UID },
  content: `xfs:${UID}`,
};
const tabled: DeviceFacts = {
  ...disk,
  signature: { found: 'one', type: 'gpt', uuid: TABLE },
  content: `gpt:${TABLE};1=none`,
  partitions: [{ ...disk, name: 'sdb1', device: '8:17', parent: 'sdb', type: 'part' }],
  partitionUuids: [UID],
};
const owned: DeviceFacts = {
  ...partition,
  partition: { number: 2, inTable: 2, scheme: 'gpt', uuid: UID },
};
const lvm = lvmNode({
  volumes: [{ ...lv, tags: [] }],
  target: { is: 'device', facts: lvmExt4 },
  link: '253:3',
});
const lvmRaw = lvmNode({
  volumes: [{ ...lv, tags: [] }],
  target: { is: 'device', facts: dm },
  link: '253:3',
});

const KINDS: [string, Desired, Observed][] = [
  ['a file with a file system', sparse, sparseNode],
  [
    'a file with a file system that is not attached',
    sparse,
    { ...sparseNode, loops: [], link: undefined },
  ],
  ['a file with a partition', block, blockNode],
  ['a disk with a file system', disked, rawNode(disks, { link: '8:16' })],
  ['a disk with a partition', parted, rawNode(tabled, { link: '8:17' })],
  ['a partition with a GUID', parted, rawNode(owned, { link: '8:18' })],
  ['a logical volume with a file system', onLvm, lvm],
  ['a bare logical volume', onLvmBlock, lvmRaw],
];

function stepsOf(desired: Desired, observed: Observed) {
  const planned = planMetalk8sRecords(desired, observed);
  if ('refusal' in planned) throw new Error(planned.refusal);
  return planned.steps;
}

/** Returns the observation with the records that the plan's steps write. */
function recorded<T extends Observed>(desired: Desired, observed: T): T {
  const written = stepsOf(desired, observed).flatMap(({ argv, stdin }) =>
    stdin === undefined ? [] : [[argv[1] ?? '', stdin] as const],
  );
  const read = (kind: string) => written.find(([path]) => path.endsWith(`.${kind}.new`))?.[1] ?? '';
  return {
    ...observed,
    intent: JSON.parse(read('intent')),
    done: { sizeBytes: BigInt(read('done').trim()) },
    recordFiles: true,
  };
}

describe.each(KINDS)('MetalK8s: %s', (_, desired, observed) => {
  test('gets its records, done before the intent, and no other write', () => {
    const steps = stepsOf(desired, observed);
    expect(writesTo(steps).filter((path) => !path.startsWith('/var/lib/stowage'))).toEqual([]);
    const written = steps.flatMap(({ argv }) =>
      argv[0] === 'mv' ? [argv[3]?.split('.').at(-1)] : [],
    );
    expect(written).toEqual(['done', 'intent']);
  });

  test('is verified before each step', () => {
    for (const { preconditions } of stepsOf(desired, observed))
      expect(preconditions.length).toBeGreaterThan(0);
    const looks = stepsOf(desired, observed)[0]?.preconditions.map(({ argv }) => argv.join(' '));
    expect(looks).toEqual(expect.arrayContaining([expect.stringMatching(/^blkid -p /)]));
    if (desired.type !== 'sparse') {
      expect(looks).toEqual(expect.arrayContaining([expect.stringMatching(/^lsblk .* \/dev\//)]));
    }
  });

  test('needs only commands that sudoers allows', () => {
    expect(commandsOf(stepsOf(desired, observed)).filter((argv) => !may(argv))).toEqual([]);
  });

  test('needs no further steps once recorded, and is never created again', () => {
    const after = recorded(desired, observed);
    expect(planMetalk8sRecords(desired, after)).toMatchObject({ steps: [] });
    const identity = after.intent?.device?.identity;
    const known = {
      ...desired,
      recorded: true,
      ...(desired.type === 'sparse' ? {} : { identity }),
    } as Desired;
    const made = plan('provision', known, after, 3);
    if ('refusal' in made) throw new Error(made.refusal);
    const attaching = made.steps.filter(
      ({ argv }) =>
        !['install', 'find', 'flock', 'losetup', 'partx', 'udevadm'].includes(argv[0] ?? ''),
    );
    expect(
      attaching.filter(({ argv }) => !['lvchange', 'sync', 'vgs'].includes(argv[0] ?? '')),
    ).toEqual([]);
  });

  test('is not recorded over a record of another device', () => {
    const { intent } = recorded(desired, observed);
    const other =
      intent?.file === undefined
        ? { ...intent, device: { ...intent?.device, path: '/dev/other' } }
        : { ...intent, file: '/other' };
    expect(planMetalk8sRecords(desired, { ...observed, intent: other } as Observed)).toMatchObject({
      reason: { code: 'AnotherRecordFound' },
      refusal: expect.stringContaining("the node's record for this Volume"),
    });
  });
});

describe('an unrecognized MetalK8s volume', () => {
  const carrying = (facts: Partial<DeviceFacts>) =>
    rawNode({ ...disks, ...facts }, { link: '8:16' });
  test.each<[string, Observed, RegExp, Desired?, ReasonCode?]>([
    [
      'a file with another file system',
      { ...sparseNode, signature: { found: 'one', type: 'ext4', uuid: OTHER } },
      /should contain a file system/,
    ],
    [
      'an ambivalent file',
      { ...sparseNode, signature: { found: 'ambivalent' } },
      /more than one signature/,
    ],
    ['a missing file', freshNode, /is missing/],
    [
      'a link that leads to another device',
      { ...sparseNode, link: '7:9' },
      /does not lead to \/dev\/loop3/,
    ],
    [
      'a table that is not attached',
      { ...blockNode, loops: [], link: undefined },
      /not attached/,
      block,
    ],
    [
      'a partition that the link does not lead to',
      { ...blockNode, link: undefined },
      /does not lead to/,
      block,
    ],
    [
      'a file that is attached twice',
      { ...sparseNode, loops: [loop, { ...loop, name: 'loop4', number: 4 }] },
      /more than once/,
    ],
    [
      'a missing disk',
      rawNode(disks, { target: { is: 'missing' } }),
      /there is no device/,
      disked,
      'DeviceMissing',
    ],
    [
      'a disk with another file system',
      carrying({ signature: { found: 'one', type: 'xfs', uuid: OTHER } }),
      /, not what MetalK8s creates/,
      disked,
      'RecognisedContentDiffers',
    ],
    [
      'an empty disk',
      carrying({ signature: { found: 'none' }, content: '' }),
      /contains nothing/,
      disked,
      'RecognisedContentDiffers',
    ],
    [
      'a table with another partition',
      rawNode({ ...tabled, partitionUuids: [OTHER] }, { link: '8:17' }),
      /, not what MetalK8s creates/,
      parted,
    ],
    [
      'a table with two partitions',
      rawNode({ ...tabled, partitionUuids: [UID, OTHER] }, { link: '8:17' }),
      /, not what MetalK8s creates/,
      parted,
    ],
    [
      'a device of another Volume',
      rawNode(
        { ...disks, uuids: [UID, OTHER] },
        { link: '8:16', others: [{ uid: OTHER, name: 'b' }] },
      ),
      /belongs to another Volume, b/,
      disked,
      'RecognisedDeviceOfAnother',
    ],
    [
      'a device that may be of another Volume',
      rawNode(
        { ...disks, identity: 'serial=S1 size=1073741824', presence: undefined },
        { link: '8:16', others: [intentFor(disk, { uid: OTHER })] },
      ),
      /may belong to another Volume, with the UID 1111/,
      disked,
      'RecognisedDeviceMaybeOfAnother',
    ],
    [
      'a link to another disk',
      rawNode(disks, { link: '8:32' }),
      /does not lead to \/dev\/sdb/,
      disked,
      'LinkLeadsElsewhere',
    ],
    ['a missing logical volume', lvmNode(), /is missing/, onLvm, 'LogicalVolumeMissing'],
    [
      'a logical volume that is not active',
      lvmNode({ volumes: [{ ...lv, tags: [], active: false, device: undefined }] }),
      /is not ready to be recognized: next step: create the directory of udev rules$/,
      onLvm,
      'LogicalVolumeNotReady',
    ],
    [
      "another Volume's logical volume",
      { ...lvm, volumes: [{ ...lv, tags: [`stowage.dev/uid=${OTHER}`] }] } as Observed,
      /is now another logical volume/,
      onLvm,
      'LogicalVolumeExchanged',
    ],
    [
      'a logical volume with another file system',
      {
        ...lvm,
        target: {
          is: 'device',
          facts: { ...lvmExt4, signature: { found: 'one', type: 'ext4', uuid: OTHER } },
        },
      } as Observed,
      /should contain what was created/,
      onLvm,
      'MadeContentMissing',
    ],
  ])('is refused: %s', (_, observed, why, desired = sparse, code = undefined) => {
    expect(planMetalk8sRecords(desired, observed)).toMatchObject({
      ...(code && { reason: { code } }),
      refusal: expect.stringMatching(why),
    });
  });
});

test('the record identifies a partition table that has its own GUID', () => {
  const after = recorded(block, blockNode);
  expect(after.intent).toMatchObject({ table: TABLE });
  const detached = { ...after, loops: [], devices: [], link: undefined };
  const attached = plan('attach', block, detached, 3);
  expect('steps' in attached && attached.steps.map(({ argv }) => argv[0])).toContain('losetup');
  const exchanged = { ...detached, signature: { found: 'one', type: 'gpt', uuid: OTHER } as const };
  expect(plan('attach', block, exchanged, 3)).toMatchObject({
    refusal: expect.stringContaining('should contain a GPT'),
  });
});

test.each([
  ['as large as requested', GIB, GIB, GIB],
  ['not in whole blocks', GIB, GIB - 4095n, GIB],
  ['larger than requested now', GIB, 2n * GIB, GIB],
  ['smaller than requested now', 2n * GIB, GIB, GIB],
])(
  'the recorded size of a file %s leaves only the missing part to expand',
  (_, sizeBytes, found, made) => {
    const observed: ObservedSparse = {
      ...sparseNode,
      file: { type: 'file', sizeBytes: found, inode: '42' },
    };
    const planned = planMetalk8sRecords({ ...sparse, sizeBytes }, observed);
    expect(recorded({ ...sparse, sizeBytes }, observed).done).toEqual({ sizeBytes: made });
    expect('notes' in planned).toBe(sizeBytes > made);
  },
);

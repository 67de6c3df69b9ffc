import { expect, test } from '@jest/globals';
import { messageOf, type Reason } from '../../src/api/reasons.ts';
import type { Precondition } from '../../src/nodes/job.ts';
import { notInUse } from '../../src/storage/in-use.ts';
import { unfinishedTag } from '../../src/storage/lvm/names.ts';
import { plan } from '../../src/storage/plan.ts';
import type { Desired, Observed } from '../../src/storage/registry.ts';
import type { VolumeOperation } from '../../src/storage/types.ts';
import {
  asleep,
  begun,
  dm,
  ext4,
  free,
  GIB,
  lv,
  lvmBlock,
  lvmDesired,
  lvmMade,
  lvmNode,
  pool,
  thin,
  thinLv,
} from '../support/lvm-input.ts';
import { disk, partition, rawBlock, rawDesired, rawMade, rawNode } from '../support/raw-input.ts';
import { beside, restoredThin, snapLv } from '../support/thin-input.ts';
import { UID } from '../support/volume-input.ts';
import { carrying } from './block/provision-cases.ts';
import { stale } from './lvm/provision-outcome.ts';

/** Each precondition of a plan has a reason of the list for its failure. */

const OLD = '11111111-2222-4333-8444-555555555555';
const half = { ...lv, tags: [unfinishedTag(UID)] };
const divided = carrying(`gpt:${OLD};1=ext4:${OLD}`);
const blank = { ...disk, isBlank: true };
const adopt = { adopt: OLD, onDelete: 'Retain' } as const;
const old = { ...lv, name: 'old1', tags: [`stowage.dev/uid=${OLD}`] };
const oldExt4 = { ...dm, ...carrying(`ext4:${OLD}`, dm), uuids: [OLD] };

const USED = [
  ...['LoopStackedOnDevice', 'DeviceMounted', 'DeviceMountedUnseen', 'DeviceMadeIntoAnother'],
  ...['DeviceIsSwap', 'DeviceClaimed'],
];

const codesOf = (preconditions: readonly Precondition[]): string[] => [
  ...new Set(preconditions.map(({ reason }) => reason?.code ?? 'none')),
];

test.each<[string, VolumeOperation, Desired, Observed, string[]]>([
  [
    'a blank disk is prepared',
    'provision',
    rawDesired,
    rawNode(blank),
    [
      ...['DeviceOpen', 'DeviceMadeMeanwhile', 'DeviceChanged'],
      ...USED,
      ...['DeviceNotBlank', 'ContentUnreadable', 'DeviceNotEmpty'],
    ],
  ],
  [
    'a disk with a table is prepared',
    'provision',
    { ...rawDesired, overwrite: divided.content },
    rawNode(divided),
    [
      ...['DeviceOpen', 'DeviceMadeMeanwhile', 'DeviceChanged'],
      ...USED,
      ...['ContentUnreadable', 'ContentChanged'],
      ...['PartitionsChanged', 'DeviceNotEmpty'],
    ],
  ],
  [
    'a partition is prepared',
    'provision',
    rawBlock,
    rawNode(partition),
    [
      ...['DeviceOpen', 'OpenToWrite', 'DeviceMadeMeanwhile', 'DeviceChanged'],
      ...USED,
      ...['ContentUnreadable', 'DeviceNotEmpty', 'PartitionMoved'],
    ],
  ],
  [
    'a disk is adopted',
    'provision',
    { ...rawDesired, ...adopt },
    rawNode({ ...carrying(`ext4:${OLD}`), uuids: [OLD] }),
    [
      ...['DeviceOpen', 'AdoptedMeanwhile', 'DeviceChanged'],
      ...USED,
      ...['ContentUnreadable', 'ContentChanged'],
    ],
  ],
  [
    'a disk is wiped',
    'delete',
    { ...rawDesired, onDelete: 'Wipe' },
    rawMade(carrying(`ext4:${UID}`)),
    [
      ...['DeviceOpen', 'DeviceChanged'],
      ...USED,
      ...['ContentUnreadable', 'ContentChanged'],
      ...['WrittenWhileWiped', 'IdentityLeft'],
    ],
  ],
  [
    'a logical volume is made in extents with content',
    'provision',
    { ...lvmDesired, overwrite: 'ext4:OLD' },
    lvmNode({ free: [stale] }),
    [
      ...['LogicalVolumeMadeMeanwhile', 'VolumeGroupChanged', 'FreeExtentsUnreadable'],
      ...['FreeExtentsChanged', 'LogicalVolumeNotAsMade', 'ContentUnreadable', 'DeviceNotEmpty'],
    ],
  ],
  [
    'a thin logical volume is made',
    'provision',
    thin,
    lvmNode({ volumes: [pool], free: [] }),
    [
      ...['ThinPoolRoomGone', 'LogicalVolumeMadeMeanwhile', 'VolumeGroupChanged'],
      ...['LogicalVolumeNotAsMade', 'ContentUnreadable', 'DeviceNotEmpty'],
    ],
  ],
  [
    'a thin pool is activated',
    'provision',
    thin,
    lvmNode({ volumes: [asleep], free: [] }),
    ['ThinPoolUnderRepair', 'LogicalVolumeChanged'],
  ],
  [
    'an unfinished thin logical volume is inactive',
    'provision',
    thin,
    begun(dm, {
      volumes: [{ ...thinLv, active: false, device: undefined }, pool],
      target: { is: 'missing' },
    }),
    ['LogicalVolumeChanged', 'LogicalVolumeMadeMeanwhile', 'ThinVolumeActivated'],
  ],
  [
    'zeros are written',
    'provision',
    { ...lvmBlock, zeroed: true },
    begun(dm, { volumes: [half] }),
    [
      ...['DeviceOpen', 'FillGivenUp', 'DeviceChanged'],
      ...USED,
      ...['UnfinishedChanged', 'ContentUnreadable'],
      ...['ContentChanged', 'LogicalVolumeNotAsMade'],
    ],
  ],
  [
    'an unfinished logical volume is recreated',
    'provision',
    { ...lvmBlock, zeroed: true },
    begun(dm, { volumes: [{ ...half, sizeBytes: GIB / 2n }] }),
    [
      ...['DeviceOpen', 'LogicalVolumeChanged'],
      ...USED,
      ...['LogicalVolumeStays'],
      ...['LogicalVolumeMadeMeanwhile', 'VolumeGroupChanged'],
    ],
  ],
  [
    'a logical volume grows',
    'attach',
    { ...lvmDesired, recorded: true, identity: dm.identity, sizeBytes: 2n * GIB },
    lvmMade(ext4, { free: [{ ...free, count: 256n }] }),
    [
      ...['LogicalVolumeChanged', 'FreeExtentsUnreadable', 'FreeExtentsChanged'],
      ...['DeviceChanged', 'FileSystemGone'],
    ],
  ],
  [
    'a snapshot is restored',
    'provision',
    restoredThin,
    beside([snapLv, thinLv, pool]),
    [
      ...['ThinPoolRoomGone', 'LogicalVolumeMadeMeanwhile', 'LogicalVolumeChanged'],
      ...['UnfinishedChanged', 'LogicalVolumeNotAsMade', 'LogicalVolumeUUIDDiffers'],
    ],
  ],
  [
    'a logical volume is adopted',
    'provision',
    { ...lvmDesired, ...adopt },
    lvmNode({
      ...{ volumes: [old], free: [], target: { is: 'device', facts: oldExt4 } },
      devices: [oldExt4],
    }),
    [
      ...['DeviceOpen', 'AdoptedMeanwhile', 'DeviceChanged'],
      ...USED,
      ...['ContentUnreadable', 'ContentChanged'],
      ...['LogicalVolumeChanged', 'AdoptedTagGone'],
    ],
  ],
])('each precondition has a reason: %s', (_, operation, desired, observed, codes) => {
  const made = plan(operation, desired, observed, 0);
  if ('refusal' in made) throw new Error(made.refusal);
  const preconditions = made.steps.flatMap((step) => step.preconditions);
  expect(codesOf(preconditions)).toEqual(codes);
  expect(preconditions.map(({ refusal }) => refusal)).toEqual(
    preconditions.map(({ reason }) => messageOf(reason as Reason)),
  );
});

test('the check for holders, which a vanished device fails, names that, too', () => {
  const checks = notInUse({ name: 'sdb1', device: '8:17' });
  const holders = checks.find(({ argv }) => argv.includes('/sys/class/block/sdb1/holders/'));
  expect(holders).toMatchObject({
    expect: { exit: 0 },
    refusal: '/dev/sdb1 is in use by another device, or no longer exists',
  });
});

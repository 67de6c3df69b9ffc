import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { blankPreconditions } from '../blank.ts';
import { newTable, setPartitionGuid } from '../gpt.ts';
import { mkfs } from '../mkfs.ts';
import { rereadPartition, rereadPartitions } from '../partx.ts';
import { beginIntent, donePath } from '../records.ts';
import { entryBlkid } from '../signature.ts';
import type { DesiredRaw, DeviceFacts, Intent } from '../types.ts';
import {
  diskPath,
  emptyPreconditions,
  lockOf,
  notInUsePreconditions,
  notOpenPreconditions,
  sameContentPreconditions,
  sameDevicePreconditions,
  samePartsPreconditions,
} from './preconditions.ts';

/**
 * Adds the record that the first write begins, right before it and under its preconditions, unless
 * the record exists.
 */
export function begin(intent: Intent, steps: Step[]): Step[] {
  const at = steps.findIndex(({ lock }) => lock !== undefined);
  const first = steps[at];
  if (first === undefined || intent.begun) return steps;
  return [...steps.slice(0, at), ...beginIntent(intent, first), ...steps.slice(at)];
}

/**
 * Returns steps that prepare a device. They destroy its content: the caller has checked the
 * consent.
 */
export function make(desired: DesiredRaw, device: DeviceFacts): Step[] {
  const path = `/dev/${device.name}`;
  const lock = lockOf(device);
  // A delayed job may run after the device was prepared and its content lost: never prepare it
  // again.
  const notDone: Precondition = {
    argv: ['test', '!', '-e', donePath(desired.uid)],
    expect: { exit: 0 },
    ...refuse('DeviceMadeMeanwhile', { device: path }),
  };
  const blank = device.content === '' && device.isBlank ? blankPreconditions(device) : [];
  const preconditions = [
    notDone,
    ...sameDevicePreconditions(device),
    ...notInUsePreconditions(device),
    ...blank,
  ];
  const checkNotOpen: Step = {
    name: `check that ${path} is not open`,
    argv: ['true'],
    // Checked before the lock, which is held by opening the device.
    preconditions: notOpenPreconditions(device),
  };
  const { partition, dmUuid } = device;
  const held = { preconditions: [...preconditions, ...emptyPreconditions(device)], lock };
  const cleared = [
    checkNotOpen,
    ...clear(device, [
      ...preconditions,
      ...sameContentPreconditions(device),
      ...samePartsPreconditions(device),
    ]),
  ];
  if (desired.mode === 'Block' && partition === undefined && dmUuid !== undefined) {
    return device.content === '' ? [] : cleared;
  }
  if (desired.mode === 'Filesystem') {
    // The caller resolves the class before it prepares a device.
    if (desired.fs === undefined) throw new Error(`no file system is known for ${path}`);
    return [
      ...cleared,
      {
        name: `create the ${desired.fs.type} file system`,
        argv: mkfs(desired.fs, desired.uid, path),
        ...held,
      },
      { name: 'sync the device', argv: ['sync', path], preconditions: [] },
    ];
  }
  if (partition !== undefined) {
    return [
      ...cleared,
      {
        name: `set the GUID of partition ${partition.number}`,
        argv: setPartitionGuid(partition.number, desired.uid, diskPath(device)),
        preconditions: [
          ...preconditions,
          ...emptyPreconditions(device),
          ...partitionPreconditions(device, partition),
        ],
        lock,
      },
      rereadPartitions(diskPath(device)),
    ];
  }
  return [
    ...cleared,
    {
      name: 'create the partition',
      argv: newTable(desired, path),
      ...held,
    },
    rereadPartition(1, path),
  ];
}

/**
 * Requires that the entry about to change in the parent's table is the one at the partition's
 * place.
 */
export function partitionPreconditions(
  { name }: DeviceFacts,
  { number, uuid }: { number: number; uuid: string },
): Precondition[] {
  return [
    ['PART_ENTRY_UUID', uuid],
    ['PART_ENTRY_NUMBER', String(number)],
  ].map(([key = '', is = '']) => ({
    argv: entryBlkid(`/dev/${name}`, 'value', key),
    expect: { exit: 0, stdout: { is } },
    ...refuse('PartitionMoved', { device: `/dev/${name}` }),
  }));
}

/**
 * Returns steps that remove every signature, also of the partitions, so that nothing half-destroyed
 * reads as complete.
 */
function clear(device: DeviceFacts, preconditions: readonly Precondition[]): Step[] {
  if (device.content === '') return [];
  const path = `/dev/${device.name}`;
  const lock = lockOf(device);
  const parts = device.partitions.map(({ name }) => `/dev/${name}`);
  return [
    {
      name: `destroy the content of ${path}: ${device.content}`,
      argv: ['wipefs', '--all', '--force', ...parts, path],
      preconditions,
      lock,
    },
    ...(parts.length === 0
      ? []
      : [
          {
            name: `remove the partitions of ${path} from the kernel`,
            argv: ['partx', '--delete', path],
            preconditions: [],
            // wipefs makes the kernel reread the table, which may have been enough.
            failureMeansConflict: true,
          },
        ]),
  ];
}

import { DEFAULT_FS_TYPE, type FsType } from '../../api/file-systems.ts';
import { type ReasonParameters, refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import {
  adoptionOf,
  forgetEarlier,
  giveUuid,
  notAdopted,
  otherAdoption,
  putBackAway,
} from '../adoption.ts';
import { compareDevice } from '../device-identity.ts';
import { setDiskGuids, setPartitionGuid } from '../gpt.ts';
import { rereadPartition, rereadPartitions } from '../partx.ts';
import { removeRecords, writeDone, writeIntent } from '../records.ts';
import { fsTypeOf } from '../signature.ts';
import type { DesiredRaw, DeviceFacts, Intent, ObservedRaw, Plan, Refusal } from '../types.ts';
import { partitionPreconditions } from './make.ts';
import { halfTable, isOurs } from './ownership.ts';
import {
  diskPath,
  lockOf,
  notInUsePreconditions,
  notOpenPreconditions,
  sameContentPreconditions,
  sameDevicePreconditions,
} from './preconditions.ts';
import { refuseDevice, useOf } from './refuse.ts';
import { targetOf } from './target.ts';

/**
 * Plans the adoption of a device with another Volume's data: its UUID or GUIDs change, and none of
 * the data.
 * @param from UID that names the device now
 */
export function planAdopt(desired: DesiredRaw, from: string, observed: ObservedRaw): Plan {
  const { intent } = observed;
  const device = targetOf(desired, observed);
  // A partition disappears and returns while the kernel reads its table.
  if ('refusal' in device) return { ...device, retryable: intent !== undefined };
  const refusal =
    otherAdoption(from, observed) ??
    otherDevice(desired, intent, device) ??
    refuseDevice({ ...desired, fs: undefined }, withoutEarlier(observed, from), device) ??
    refuseContent(desired, from, device, intent);
  if (refusal !== undefined) return refusal;
  return {
    steps: [
      ...(intent === undefined ? writeIntent(intentFor(desired, from, device)) : []),
      ...rename(desired, device),
      ...forgetEarlier(from),
      ...writeDone(desired.uid, device.sizeBytes),
    ],
  };
}

/**
 * Plans the deletion of a Volume before its adoption is complete. The device gets its earlier UID
 * back, if anything was changed, and keeps its data.
 */
export function planPutBack(desired: DesiredRaw, from: string, observed: ObservedRaw): Plan {
  const records = removeRecords(desired.uid);
  const device = targetOf(desired, observed);
  if ('refusal' in device) return putBackAway(desired, device.refusal, device.reason);
  const recorded = observed.intent?.device;
  const answer = recorded === undefined ? 'unknown' : compareDevice(recorded, device);
  const isChanged =
    isOurs(desired, device) ||
    halfTable(desired, device) === 'ours' ||
    mayBeHalf(desired, from, device);
  const isUnchanged = isOurs({ ...desired, uid: from }, device);
  // The path may lead to another disk by now.
  if (answer === 'different' || (answer === 'unknown' && !isChanged && !isUnchanged)) {
    const { refusal, reason } = refuse('AdoptedDeviceExchanged', {
      path: desired.devicePath,
      device: `/dev/${device.name}`,
      identity: device.identity,
      recorded: recorded?.path,
      recordedIdentity: recorded?.identity,
    });
    return putBackAway(desired, refusal, reason);
  }
  if (!isChanged) return { steps: records };
  const use = useOf(device, observed);
  if (use !== undefined) return putBackLater(use.seen);
  return { steps: [...rename(desired, device, from), ...records] };
}

/**
 * File systems that an interrupted change of the UUID may leave with the earlier UUID, but changed:
 * the log of an XFS is recreated first, and may then be unmountable.
 */
const CHANGES_BEFORE_UUID: Record<FsType, boolean> = { ext4: false, xfs: true };

/** Reports whether the UUID may be half changed, though the device shows the earlier one. */
export function mayBeHalf(desired: DesiredRaw, from: string, device: DeviceFacts): boolean {
  const type = fsTypeOf(device.signature);
  if (type === undefined || !CHANGES_BEFORE_UUID[type]) return false;
  return isOurs({ ...desired, uid: from }, device);
}

/** Refuses to restore the earlier UID until nothing uses the storage. */
export const putBackLater = (use: ReasonParameters<'UseHoldsPutBack'>): Plan => ({
  ...refuse('UseHoldsPutBack', use),
  retryable: true,
});

function otherDevice(
  { devicePath }: DesiredRaw,
  intent: Intent | undefined,
  device: DeviceFacts,
): Refusal | undefined {
  const recorded = intent?.device;
  if (recorded === undefined || compareDevice(recorded, device) !== 'different') return undefined;
  return refuse('RecordOfAnotherDevice', {
    recorded: recorded.path,
    recordedIdentity: recorded.identity,
    path: devicePath,
    device: `/dev/${device.name}`,
    identity: device.identity,
  });
}

/**
 * Returns the observation without the earlier Volume as an owner: the content, not its records,
 * identifies the device.
 */
export const withoutEarlier = <O extends Pick<ObservedRaw, 'others'>>(
  observed: O,
  from: string,
): O => ({
  ...observed,
  others: observed.others.filter(({ uid }) => uid !== from),
});

/** Returns why the content of a device is not adopted; undefined if it is. */
export function refuseContent(
  desired: DesiredRaw,
  from: string,
  device: DeviceFacts,
  intent: Intent | undefined,
): Refusal | undefined {
  const path = `/dev/${device.name}`;
  const { mode } = desired;
  if (mode === 'Block' && device.partition === undefined && device.dmUuid !== undefined) {
    return refuse('AdoptedVolumeUnmarked', { device: path });
  }
  if (device.partitionUuids.length > 1 && mode === 'Block') {
    const partitions = device.partitionUuids.length;
    return refuse('AdoptedDiskDivided', { device: path, partitions });
  }
  const earlier = { ...desired, uid: from };
  if (isOurs(earlier, device)) return undefined;
  // An interrupted attempt of this adoption changed it, or a part of it.
  if (
    intent !== undefined &&
    (isOurs(desired, device) ||
      [desired, earlier].some((each) => halfTable(each, device) === 'ours'))
  ) {
    return undefined;
  }
  const other = mode === 'Block' ? 'Filesystem' : 'Block';
  if (isOurs({ ...earlier, mode: other }, device) && device.dmUuid === undefined) {
    return refuse('AdoptedModeDiffers', { device: path, found: other, mode });
  }
  const content = device.content || 'nothing';
  return refuse('AdoptedContentDiffers', { device: path, content, uid: from });
}

function intentFor(desired: DesiredRaw, from: string, device: DeviceFacts): Intent {
  const { identity, presence, dmUuid, partition, signature, content, sizeBytes } = device;
  const place = {
    path: desired.devicePath,
    identity,
    ...(presence === undefined ? {} : { presence }),
    ...(dmUuid === undefined ? {} : { dmUuid }),
    ...(partition === undefined ? {} : { partuuid: partition.uuid }),
  };
  const fsType = desired.mode === 'Filesystem' && signature.found === 'one' ? signature.type : '';
  return adoptionOf(desired, from, { device: place }, { sizeBytes, fsType, signature: content });
}

/**
 * Returns steps that name a device by a UID, the Volume's or its earlier one. They are not skipped
 * if the UID already reads so: an interrupted program may have changed only one copy.
 */
export function rename(desired: DesiredRaw, device: DeviceFacts, uid = desired.uid): Step[] {
  const path = `/dev/${device.name}`;
  const lock = lockOf(device);
  const { partition, signature } = device;
  const preconditions: Precondition[] = [
    notAdopted(desired),
    ...sameDevicePreconditions(device),
    ...notInUsePreconditions(device),
    ...sameContentPreconditions(device),
  ];
  const checkNotOpen: Step = {
    name: `check that ${path} is not open`,
    argv: ['true'],
    // Checked before the lock, which is held by opening the device.
    preconditions: notOpenPreconditions(device),
  };
  if (desired.mode === 'Filesystem') {
    const type = fsTypeOf(signature) ?? DEFAULT_FS_TYPE;
    return [
      checkNotOpen,
      { ...giveUuid(type, { uid, owner: desired.uid, path }, preconditions), lock },
    ];
  }
  if (partition !== undefined) {
    return [
      checkNotOpen,
      {
        name: `set the GUID of partition ${partition.number}`,
        argv: setPartitionGuid(partition.number, uid, diskPath(device)),
        preconditions: [...preconditions, ...partitionPreconditions(device, partition)],
        lock,
      },
      rereadPartitions(diskPath(device)),
    ];
  }
  return [
    checkNotOpen,
    {
      name: 'set the GUIDs of the table and its partition',
      argv: setDiskGuids(uid, path, desired.name),
      preconditions,
      lock,
    },
    rereadPartition(1, path),
  ];
}

import { DEFAULT_FS_TYPE } from '../../api/file-systems.ts';
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
import { tellKernel, tellKernelAll } from '../partx.ts';
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
 * Returns what remains to be done until a device with another Volume's data is this Volume's: that is its UUID, or its GUIDs, and
 * nothing of the data.
 * @param from the UID that the device is named by
 */
export function planAdopt(desired: DesiredRaw, from: string, observed: ObservedRaw): Plan {
  const { intent } = observed;
  const device = targetOf(desired, observed);
  // A partition goes and comes while the kernel reads its table.
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
 * Returns what remains to be done where the Volume is deleted before its adoption has come to its end: the device gets the UID back
 * that it had, if anything was changed, and keeps its data.
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
  // The path may lead to another disk since.
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

/** The log of an XFS is made anew before its UUID is: with the earlier one it may be one that nobody can mount. */
export const mayBeHalf = (desired: DesiredRaw, from: string, device: DeviceFacts): boolean =>
  device.signature.found === 'one' &&
  device.signature.type === 'xfs' &&
  isOurs({ ...desired, uid: from }, device);

/** Postpones the put-back until nothing uses the storage. */
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

/** Whose it was is known by what is on it, so that records of that Volume, and the Volume itself, do not count. */
export const withoutEarlier = <O extends Pick<ObservedRaw, 'others'>>(
  observed: O,
  from: string,
): O => ({
  ...observed,
  others: observed.others.filter(({ uid }) => uid !== from),
});

/** Returns why what is on a device is not adopted; undefined where it is. */
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
  // An interrupted try of ours changed it, or a part of it.
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
 * Has a device named by a UID, the Volume's or the one that it had. Also where that can be read already, for an interrupted program changed one copy of it
 * and not the other.
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
  const look: Step = {
    name: `look whether ${path} is open`,
    argv: ['true'],
    // Before the lock, which is held by opening the device.
    preconditions: notOpenPreconditions(device),
  };
  if (desired.mode === 'Filesystem') {
    const type = fsTypeOf(signature) ?? DEFAULT_FS_TYPE;
    return [look, { ...giveUuid(type, { uid, owner: desired.uid, path }, preconditions), lock }];
  }
  if (partition !== undefined) {
    return [
      look,
      {
        name: `give partition ${partition.number} its GUID`,
        argv: setPartitionGuid(partition.number, uid, diskPath(device)),
        preconditions: [...preconditions, ...partitionPreconditions(device, partition)],
        lock,
      },
      tellKernelAll(diskPath(device)),
    ];
  }
  return [
    look,
    {
      name: 'give the table and its partition their GUIDs',
      argv: setDiskGuids(uid, path, desired.name),
      preconditions,
      lock,
    },
    tellKernel(1, path),
  ];
}

import { OR_RETAIN } from '../../api/reasons/devices.ts';
import { refuse } from '../../api/reasons.ts';
import type { Step } from '../../nodes/job.ts';
import { halfAdopted } from '../adoption.ts';
import { compareDevice, haveUnlikeWwns } from '../device-identity.ts';
import { setPartitionGuid } from '../gpt.ts';
import { contentLink } from '../links.ts';
import { rereadPartitions } from '../partx.ts';
import { removeRecords } from '../records.ts';
import { entryBlkid } from '../signature.ts';
import type { DesiredRaw, DeviceFacts, ObservedRaw, Plan } from '../types.ts';
import { dropLink, triggerUdev, waitForUdev } from '../udev.ts';
import { planPutBack } from './adopt.ts';
import { takeSignatureOff, wipeDevice } from './clean.ts';
import { isLeftOf } from './content.ts';
import { partitionPreconditions } from './make.ts';
import { halfTable, isOurs } from './ownership.ts';
import {
  diskPath,
  lockOf,
  notInUsePreconditions,
  notOpenPreconditions,
  sameDevicePreconditions,
} from './preconditions.ts';
import { useOf } from './refuse.ts';
import { targetOf } from './target.ts';

/**
 * Plans the deletion: the data is retained, the Volume's signature is removed, or every byte is
 * overwritten. Other content of the device is never touched.
 */
export function planDelete(desired: DesiredRaw, observed: ObservedRaw): Plan {
  const from = halfAdopted(desired, observed);
  if (from !== undefined) return planPutBack(desired, from, observed);
  // The link goes first: without records nothing would show that it remains.
  const records = [
    ...dropLink(desired, observed),
    ...(observed.recordFiles ? removeRecords(desired.uid) : []),
  ];
  const touched = observed.intent !== undefined || observed.done !== undefined || desired.recorded;
  if (!touched || desired.onDelete === 'Retain') return { steps: records };
  const device = targetOf(desired, observed);
  if ('refusal' in device) return { ...device, hint: OR_RETAIN };
  const path = `/dev/${device.name}`;
  const recorded = desired.identity ?? observed.intent?.device?.identity;
  // An unknown device is written to as far as its content shows that it is the Volume's. A copy of
  // the volume on another disk has the same content.
  const before = { identity: recorded };
  const answer = compareDevice(before, device);
  if (answer === 'different' || (answer === 'unknown' && haveUnlikeWwns(before, device))) {
    return refuse('DeletedDeviceExchanged', {
      path: desired.devicePath,
      device: path,
      identity: device.identity,
      recorded: recorded ?? 'none',
    });
  }
  const known =
    compareDevice({ ...observed.intent?.device, ...(recorded && before) }, device) === 'same';
  // Records go last: if none exist, everything was done. Nothing else shows that for a logical
  // volume.
  const marked = isOurs(desired, device) && !(desired.mode === 'Block' && isLogicalVolume(device));
  if (!marked && !observed.recordFiles) return { steps: records };
  if (!isOurs(desired, device)) {
    if (isUntouched(desired, observed, device)) {
      const stale =
        observed.link === device.device
          ? dropContentLink(desired, device, device.content !== '')
          : [];
      return { steps: [...stale, ...records] };
    }
    const half = halfTable(desired, device);
    const carried = { device: path, content: device.content || 'nothing' };
    if (device.content !== '' && half === undefined) return refuse('ContentOfAnother', carried);
    // Wiping is on record before its first byte, so without a record it removed nothing.
    if (desired.onDelete === 'Wipe' && observed.wiped === undefined && half !== 'ours') {
      return refuse('ContentNotMade', carried);
    }
    if (half === 'nameless' && !known) return refuse('ContentOfUnknown', carried);
  }
  if (observed.wiped !== undefined && observed.wiped > device.sizeBytes) {
    const { wiped } = observed;
    return refuse('WipedBeyondEnd', { wiped, device: path, bytes: device.sizeBytes });
  }
  const use = useOf(device, observed);
  if (use !== undefined) {
    return { ...refuse('UseHoldsCleaning', { ...use.seen, ...use.ended }), retryable: true };
  }
  const clean = desired.onDelete === 'Wipe' ? wipeDevice(desired, observed, device, { known }) : [];
  const changes = [...clean, ...takeOff(desired, observed, device, clean.length > 0)];
  const drop = changes.length === 0 ? [] : dropContentLink(desired, device, false);
  return { steps: [...notOpenStep(device), ...changes, ...drop, ...records] };
}

/**
 * Returns steps that remove a path that udev derives from content. udev removes it too, but may not
 * have read what was written under a lock. It was seen to keep the link of a partition that
 * disappeared and returned while its GUID was changed.
 * @param filled the device then carries other content, which blkid reports
 */
function dropContentLink(desired: DesiredRaw, device: DeviceFacts, filled: boolean): Step[] {
  const path = `/dev/${device.name}`;
  // A partition keeps what a pod stored in it.
  const entry = desired.mode === 'Block' && device.partition !== undefined;
  return [
    triggerUdev(device.name),
    waitForUdev,
    {
      name: 'remove the persistent link, if udev left it',
      argv: ['rm', '-f', '--', contentLink(desired)],
      preconditions: [
        {
          argv: entry
            ? entryBlkid(path, 'value', 'PART_ENTRY_UUID')
            : ['blkid', '-p', '-o', 'value', '-s', 'UUID', '-s', 'PART_ENTRY_UUID', path],
          // A partition always has its entry. Any other status means that blkid did not read the
          // device.
          expect: {
            exit: filled || device.partition !== undefined ? 0 : 2,
            stdout: { has: '', lacks: desired.uid },
          },
          ...refuse('IdentityLeft', { device: path, uuid: desired.uid }),
        },
      ],
    },
  ];
}

const isLogicalVolume = ({ partition, dmUuid }: DeviceFacts) =>
  partition === undefined && dmUuid !== undefined;

/**
 * Reports whether there is nothing to remove: it was not written yet, or an interrupted attempt
 * removed it.
 */
function isUntouched(
  { onDelete, mode, recorded }: DesiredRaw,
  observed: ObservedRaw,
  device: DeviceFacts,
): boolean {
  const { intent, done, wiped } = observed;
  const made = done !== undefined || recorded;
  if (mode === 'Block' && device.partition !== undefined) {
    return (
      device.partition.uuid === intent?.device?.partuuid &&
      (!made || onDelete === 'Delete' || wiped !== undefined)
    );
  }
  if (device.content === '') return onDelete === 'Delete' || !(made || wiped !== undefined);
  return !made && intent !== undefined && isLeftOf(intent.signature, device.content);
}

function notOpenStep(device: DeviceFacts): Step[] {
  return [
    {
      name: `check that /dev/${device.name} is not open`,
      argv: ['true'],
      // Checked before the lock, which is held by opening the device.
      preconditions: notOpenPreconditions(device),
    },
  ];
}

/**
 * Returns steps that remove the Volume's file system signature, its partition table, or its GUID in
 * a foreign table.
 */
function takeOff(
  desired: DesiredRaw,
  observed: ObservedRaw,
  device: DeviceFacts,
  wiped: boolean,
): Step[] {
  const path = `/dev/${device.name}`;
  const lock = lockOf(device);
  const { partition, dmUuid } = device;
  if (desired.mode === 'Block' && partition !== undefined) {
    if (partition.uuid !== desired.uid) return [];
    const before = observed.intent?.device?.partuuid ?? 'R';
    // Present number in the table: the kernel may not have read the table since it was changed.
    const number = partition.inTable ?? partition.number;
    return [
      {
        name: `restore the GUID of partition ${number}`,
        argv: setPartitionGuid(number, before, diskPath(device)),
        preconditions: [
          ...sameDevicePreconditions(device),
          ...notInUsePreconditions(device),
          ...partitionPreconditions(device, { number, uuid: desired.uid }),
        ],
        lock,
      },
      rereadPartitions(diskPath(device)),
    ];
  }
  if (wiped || observed.wiped !== undefined || (desired.mode === 'Block' && dmUuid !== undefined))
    return [];
  const parts = device.partitions;
  return [
    takeSignatureOff(device),
    ...(parts.length === 0
      ? []
      : [
          {
            name: `remove the partition of ${path} from the kernel`,
            argv: ['partx', '--delete', path],
            preconditions: [],
            failureMeansConflict: true,
          },
        ]),
  ];
}

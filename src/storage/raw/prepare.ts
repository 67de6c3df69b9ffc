import type { Guard, Step } from '../../nodes/job.ts';
import { blankGuards, UNKNOWN_DATA } from '../blank.ts';
import { newTable, setPartitionGuid } from '../gpt.ts';
import { compareDevice } from '../identity.ts';
import { mkfs } from '../mkfs.ts';
import { tellKernel, tellKernelAll } from '../partx.ts';
import { beginIntent, donePath, intentOf, writeDone, writeIntent } from '../records.ts';
import { entryBlkid } from '../signature.ts';
import type { DesiredRaw, DeviceFacts, Intent, ObservedRaw, Plan } from '../types.ts';
import { hasUuid, isLeftOf } from './content.ts';
import {
  diskPath,
  emptyGuards,
  lockOf,
  notInUseGuards,
  notOpenGuards,
  sameContentGuards,
  sameDeviceGuards,
  samePartsGuards,
} from './guards.ts';
import { halfTable, hasOwnTable, isOurs } from './ours.ts';
import { ofAnother, refuseDevice } from './refuse.ts';
import { targetOf } from './target.ts';

/**
 * What remains to be done until the device carries what the Volume wants and that is recorded as done. Nothing that
 * is on it is destroyed without a consent that names it, or a record that an interrupted try of ours put it there.
 */
export function planPrepare(desired: DesiredRaw, observed: ObservedRaw): Plan {
  const device = targetOf(desired, observed);
  const { intent } = observed;
  // A partition goes and comes while the kernel reads its table, which what we do on the disk has it do.
  if ('refusal' in device) return { ...device, passing: intent !== undefined };
  if (desired.recorded || observed.done) return checkMade(desired, observed, device);
  if (
    intent !== undefined &&
    (intent.device === undefined || compareDevice(intent.device, device) === 'different')
  ) {
    return {
      refusal: `the node records for this Volume the device ${intent.device?.path} (${intent.device?.identity}), and ${desired.devicePath} is now /dev/${device.name} (${device.identity})`,
      hint: 'Bring the device back to its path, or delete this Volume and create it again.',
    };
  }
  const refusal = refuseDevice(desired, observed, device) ?? refuseContent(desired, device, intent);
  if (refusal !== undefined) return refusal;
  const wanted = intentFor(desired, device, intent);
  return {
    steps: [
      ...(JSON.stringify(intent) === JSON.stringify(wanted) ? [] : writeIntent(wanted)),
      ...begin(wanted, make(desired, device)),
      ...writeDone(desired.uid, device.sizeBytes),
    ],
  };
}

/** What was made is looked at, and never made again. */
export function checkMade(desired: DesiredRaw, observed: ObservedRaw, device: DeviceFacts): Plan {
  const recorded = desired.identity ?? observed.intent?.device?.identity;
  if (recorded !== undefined && compareDevice({ identity: recorded }, device) === 'different') {
    return {
      refusal: `${desired.devicePath} is now /dev/${device.name} (${device.identity}), and not the device that was made ready (${recorded})`,
      hint: 'Bring the device back, or delete the Volume if its data is given up. Nothing is made anew on another device.',
    };
  }
  if (isOurs(desired, device)) {
    // Nothing on a logical volume in mode Block tells whose it is. It may have been another's since a backup was made, which
    // knows this Volume still.
    const unmarked = desired.mode === 'Block' && device.dmUuid !== undefined && !observed.recordFiles;
    const other = unmarked ? ofAnother(device, observed) : undefined;
    if (other === undefined) return { steps: [] };
    return { refusal: other, hint: 'Delete this Volume: nothing on the node is of it any more.' };
  }
  return {
    refusal: `/dev/${device.name} should carry what was made for this Volume, but ${device.content || 'nothing'} was found`,
    hint: 'It was overwritten or exchanged. It is left as it is.',
  };
}

/** Consent is bound to what is there now, to the letter; what an interrupted try of ours left needs none. */
function refuseContent(
  desired: DesiredRaw,
  device: DeviceFacts,
  intent: Intent | undefined,
): Plan | undefined {
  const carried = carriedBy(device);
  const ours = intent !== undefined && canBeOurs(desired, device) && isOurs(desired, device);
  if (carried === '' || ours) return undefined;
  if (carried === desired.overwrite) return undefined;
  if (intent !== undefined && isInterrupted(desired, device, intent)) return undefined;
  const given =
    desired.overwrite === undefined
      ? ''
      : `. The consent that was given is for ${JSON.stringify(desired.overwrite)}, which is not what is there`;
  return {
    refusal: `/dev/${device.name} carries ${carried}${given}`,
    hint: `Use another device. Or, if all of that may be destroyed, set spec.overwrite to ${JSON.stringify(carried)}.`,
  };
}

/** Nothing of ours is ever in a partition or a logical volume in mode Block: what is there is somebody's. */
const canBeOurs = (desired: DesiredRaw, device: DeviceFacts): boolean =>
  desired.mode === 'Filesystem' || hasOwnTable(desired, device);

/** Returns all that a device carries, as a consent names it; '' for a blank one. */
const carriedBy = ({ content, isBlank }: DeviceFacts): string =>
  content === '' && isBlank === false ? UNKNOWN_DATA : content;

/**
 * Returns whether an interrupted try of ours left what is there: data on a device that was blank, half of a table, or a part of what
 * it was to destroy. A try that a guard ended began nothing, and what is there is somebody's. Without a UUID that could be any disk's,
 * and the disk itself must be known.
 */
function isInterrupted(desired: DesiredRaw, device: DeviceFacts, intent: Intent): boolean {
  const isSame = compareDevice(intent.device ?? {}, device) === 'same';
  if (halfTable(desired, device) === 'ours' && isLeftOf(`gpt;1=${UNKNOWN_DATA}`, device.content)) return true;
  if (intent.begun !== true) return false;
  if (device.content === '' && intent.signature === 'none' && canBeOurs(desired, device)) return isSame;
  // What 'none' says in a record is no consent, whoever writes it into a spec.
  if (intent.consent !== desired.overwrite || intent.consent === 'none') return false;
  const known = hasUuid(device.content) || isSame;
  return known && isLeftOf(intent.consent, device.content);
}

/** A record that is there keeps what it says of the device before the first write. */
function intentFor(desired: DesiredRaw, device: DeviceFacts, before: Intent | undefined): Intent {
  const { identity, presence, dmUuid, partition } = device;
  const place = {
    path: desired.devicePath,
    identity,
    ...(dmUuid === undefined ? {} : { dmUuid }),
    ...(partition === undefined ? {} : { partuuid: before?.device?.partuuid ?? partition.uuid }),
  };
  const now = presence === undefined ? {} : { presence };
  const fresh = intentOf(desired, { device: { ...(before?.device ?? place), ...now } }, device.sizeBytes);
  const carried = carriedBy(device);
  const consent = carried !== '' && carried === desired.overwrite;
  if (!consent) {
    if (before === undefined) return fresh;
    // What a first write that failed has left as it was can be somebody's by the next try.
    const isUntouched = carried === '' || carried === before.signature;
    const begun = before.begun === true && !isUntouched ? { begun: true } : {};
    return { ...fresh, signature: before.signature, consent: before.consent, ...begun };
  }
  return { ...fresh, signature: carried, consent: carried };
}

/** Has the first write on record as begun, where that is not yet. The record has the guards of the write, right before it. */
function begin(intent: Intent, steps: Step[]): Step[] {
  const at = steps.findIndex(({ lock }) => lock !== undefined);
  const first = steps[at];
  if (first === undefined || intent.begun) return steps;
  return [...steps.slice(0, at), ...beginIntent(intent, first), ...steps.slice(at)];
}

function make(desired: DesiredRaw, device: DeviceFacts): Step[] {
  const path = `/dev/${device.name}`;
  const lock = lockOf(device);
  // A job may reach the node late, after all was lost again: what is done is not made anew.
  const notDone: Guard = {
    argv: ['test', '!', '-e', donePath(desired.uid)],
    expect: { exit: 0 },
    refusal: `${path} was made ready meanwhile`,
  };
  const blank = device.content === '' && device.isBlank ? blankGuards(device) : [];
  const guards = [notDone, ...sameDeviceGuards(device), ...notInUseGuards(device), ...blank];
  const look: Step = {
    name: `look whether ${path} is open`,
    argv: ['true'],
    // Before the lock, which is held by opening the device.
    guards: notOpenGuards(device),
  };
  const { partition, dmUuid } = device;
  const held = { guards: [...guards, ...emptyGuards(device)], lock };
  const cleared = [
    look,
    ...clear(device, [...guards, ...sameContentGuards(device), ...samePartsGuards(device)]),
  ];
  if (desired.mode === 'Block' && partition === undefined && dmUuid !== undefined) {
    return device.content === '' ? [] : cleared;
  }
  if (desired.mode === 'Filesystem') {
    // The class is known: who prepares has looked at it.
    if (desired.fs === undefined) throw new Error(`no file system is known for ${path}`);
    return [
      ...cleared,
      {
        name: `make the ${desired.fs.type} file system`,
        argv: mkfs(desired.fs, desired.uid, path),
        ...held,
      },
      { name: 'sync the device', argv: ['sync', path], guards: [] },
    ];
  }
  if (partition !== undefined) {
    return [
      ...cleared,
      {
        name: `give partition ${partition.number} its GUID`,
        argv: setPartitionGuid(partition.number, desired.uid, diskPath(device)),
        guards: [...guards, ...emptyGuards(device), ...partitionGuards(device, partition)],
        lock,
      },
      tellKernelAll(diskPath(device)),
    ];
  }
  return [
    ...cleared,
    {
      name: 'make the partition',
      argv: newTable(desired, path),
      ...held,
    },
    tellKernel(1, path),
  ];
}

/** The entry in the parent's table that is about to be changed is the one at the partition's place. */
export function partitionGuards(
  { name }: DeviceFacts,
  { number, uuid }: { number: number; uuid: string },
): Guard[] {
  return [
    ['PART_ENTRY_UUID', uuid],
    ['PART_ENTRY_NUMBER', String(number)],
  ].map(([key = '', is = '']) => ({
    argv: entryBlkid(`/dev/${name}`, 'value', key),
    expect: { exit: 0, stdout: { is } },
    refusal: `/dev/${name} has another place in the partition table than when it was looked at`,
  }));
}

/** Takes every signature off, of the partitions too, so that nothing half-destroyed is read as whole. */
function clear(device: DeviceFacts, guards: readonly Guard[]): Step[] {
  if (device.content === '') return [];
  const path = `/dev/${device.name}`;
  const lock = lockOf(device);
  const parts = device.partitions.map(({ name }) => `/dev/${name}`);
  return [
    {
      name: `destroy what is on ${path}: ${device.content}`,
      argv: ['wipefs', '--all', '--force', ...parts, path],
      guards,
      lock,
    },
    ...(parts.length === 0
      ? []
      : [
          {
            name: `have the kernel forget the partitions of ${path}`,
            argv: ['partx', '--delete', path],
            guards: [],
            // wipefs has the kernel read the table anew, which may have been enough.
            mayRace: true,
          },
        ]),
  ];
}

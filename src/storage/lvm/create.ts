import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { emptyPreconditions } from '../block/preconditions.ts';
import { linkOf } from '../links.ts';
import { mkfs } from '../mkfs.ts';
import { fillStep } from '../populate/fill.ts';
import type { Fill } from '../populate/types.ts';
import { donePath, intentOf, writeDone, writeIntent } from '../records.ts';
import type { DesiredLvm, Intent, ObservedLvm } from '../types.ts';
import { lookAgain, makeRule, waitForLink } from '../udev.ts';
import { contentOf, rangeOf, sameContentPreconditions } from './content.ts';
import { finish } from './copy.ts';
import type { VolumeGroup } from './facts.ts';
import { extentsFor } from './group.ts';
import { printed, sameGroup } from './lvchange.ts';
import { dmNameOf, lvName, lvPath, tagOf, unfinishedTag } from './names.ts';
import { poolOf } from './pool.ts';
import { begins } from './refuse.ts';
import { withRoom, withRoomAlone } from './room.ts';

/** The record that is written before there is a logical volume: its UUID is LVM's to choose. */
export function intentFor(desired: DesiredLvm, group: VolumeGroup, consent: string): Intent {
  const device = { path: lvPath(desired), identity: `vg=${group.uuid}` };
  const fresh = intentOf(desired, { device }, bytesFor(desired, group));
  return consent === '' ? fresh : { ...fresh, signature: consent, consent };
}

export const bytesFor = (desired: DesiredLvm, group: VolumeGroup): bigint =>
  extentsFor(desired, group) * group.extentBytes;

/** All steps from nothing to what the Volume wants, once nothing speaks against it. */
export function create(desired: DesiredLvm, observed: ObservedLvm, group: VolumeGroup): Step[] {
  const { free } = observed;
  const intent = intentFor(desired, group, contentOf(free));
  const known = JSON.stringify(observed.intent) === JSON.stringify(intent);
  const done = writeDone(desired.uid, bytesFor(desired, group));
  const { fill } = desired;
  const preconditions =
    fill === undefined ? madePreconditions(desired, group) : isMadePreconditions(desired);
  const made = [
    ...(known ? [] : writeIntent(intent)),
    ...makeRule(desired, nameKey(desired)),
    ...(desired.thinPool === undefined
      ? [lvcreate(desired, observed, group)]
      : [lvcreateThin(desired, observed, desired.thinPool, group)]),
  ];
  // Zeros are written by the kernel's name of the device, which is known once it exists.
  if (isZeroed(desired)) return made;
  return [
    ...made,
    ...(desired.mode === 'Filesystem' ? makeFileSystem(desired, observed, group) : []),
    ...(fill === undefined ? [] : fillIn(desired, observed, group, intent, fill)),
    ...(desired.mode === 'Filesystem' && fill === undefined
      ? done
      : done.map((step, index) => (index > 0 ? step : { ...step, preconditions }))),
    ...(desired.mode === 'Filesystem' ? [lookAgain(lvName(desired, desired.name))] : []),
    waitForLink(linkOf(desired)),
  ];
}

/** Its UUID is LVM's to choose: until it is attached the next time, the rule for its link knows it by its name. */
export const nameKey = (desired: DesiredLvm): string => `ATTR{dm/name}=="${dmNameOf(desired)}"`;

/** A job may reach the node late, after all was lost again: what is done is not made anew. */
export const notDone = (desired: DesiredLvm): Precondition => ({
  argv: ['test', '!', '-e', donePath(desired.uid)],
  expect: { exit: 0 },
  ...refuse('LogicalVolumeMadeMeanwhile', { path: lvPath(desired) }),
});

/** Zeros are written to all of it. What a thin pool hands out reads as zeros. */
export const isZeroed = ({ zeroed, thinPool }: DesiredLvm): boolean =>
  zeroed === true && thinPool === undefined;

/** Returns whether all bytes are written before the logical volume becomes the Volume's: from elsewhere, or with zeros. */
export const isWritten = (desired: DesiredLvm): boolean =>
  desired.fill !== undefined || isZeroed(desired);

const firstTagOf = (desired: DesiredLvm): string =>
  isWritten(desired) ? unfinishedTag(desired.uid) : tagOf(desired.uid);

const named = (desired: DesiredLvm): string[] => [
  '--name',
  desired.name,
  '--addtag',
  firstTagOf(desired),
];

/**
 * LVM itself looks for signatures before udev may look at the device, so that a copy of a file system in old extents is
 * never taken for the one that is in use. It asks what to do with one, is answered by an empty standard input, which is
 * no, and takes the logical volume back. Only for extents that were looked into, and with consent to what is in them,
 * it is told yes: then it is told these extents, too. Without blkid it would know three kinds of signatures and write over
 * the others, so lvm.conf does not decide that.
 */
function lvcreate(
  desired: DesiredLvm,
  { free, passedOver, intent }: ObservedLvm,
  group: VolumeGroup,
): Step {
  const consented = contentOf(free) !== '';
  // Of an earlier try LVM may have met a signature in others.
  const chosen = desired.overwrite !== undefined || passedOver.length > 0 || intent !== undefined;
  return {
    name: `make the logical volume ${lvName(desired, desired.name)}`,
    argv: [
      'lvcreate',
      ...(consented ? ['--yes'] : []),
      ...['--config', 'allocation{use_blkid_wiping=1}'],
      ...named(desired),
      ...['--extents', String(extentsFor(desired, group)), '--wipesignatures', 'y', '--zero', 'y'],
      group.name,
      ...(chosen ? free.map(rangeOf) : []),
    ],
    // Also where somebody pastes the plan into a shell.
    stdin: '',
    preconditions: [
      notDone(desired),
      sameGroup(group),
      ...(chosen ? sameContentPreconditions(free) : []),
    ],
    // Others may have taken these extents.
    ...(chosen ? { failureMeansConflict: true } : {}),
  };
}

/** A new thin volume reads as zeros: there is nothing in it to look for. */
function lvcreateThin(
  desired: DesiredLvm,
  observed: ObservedLvm,
  pool: string,
  group: VolumeGroup,
): Step {
  const bytes = bytesFor(desired, group);
  return withRoom(desired, observed, pool, begins(desired, bytes), {
    name: `make the thin volume ${lvName(desired, desired.name)}`,
    argv: [
      ...['lvcreate', ...named(desired), '--virtualsize', `${bytes}b`],
      ...['--thinpool', pool, group.name],
    ],
    preconditions: [notDone(desired), sameGroup(group)],
  });
}

/**
 * It is what was just made, the path leads to it (a link that udev left behind may lead to a logical volume of others
 * that has its number by now), and LVM did look: it does not at what lvm.conf keeps from being active.
 */
function madePreconditions(desired: DesiredLvm, group: VolumeGroup): Precondition[] {
  return [
    ...isMadePreconditions(desired, firstTagOf(desired)),
    ...emptyPreconditions({
      name: `${desired.vgName}/${desired.name}`,
      sizeBytes: bytesFor(desired, group),
      partition: undefined,
    }),
  ];
}

/** The same, whatever is in it. */
export function isMadePreconditions(desired: DesiredLvm, tag = tagOf(desired.uid)): Precondition[] {
  const path = lvPath(desired);
  const changed = refuse('LogicalVolumeNotAsMade', { path });
  return [
    {
      argv: ['lvs', '--noheadings', '-o', 'lv_tags', lvName(desired, desired.name)],
      // And no other tag.
      expect: { exit: 0, stdout: { ...printed(tag), lacks: ',' } },
      ...changed,
    },
    {
      argv: ['lsblk', '--raw', '-n', '-d', '-o', 'NAME,TYPE', path],
      expect: { exit: 0, stdout: { is: `${dmNameOf(desired)} lvm` } },
      ...changed,
    },
  ];
}

function makeFileSystem(desired: DesiredLvm, observed: ObservedLvm, group: VolumeGroup): Step[] {
  const path = lvPath(desired);
  // The class is known: who prepares has looked at it.
  if (desired.fs === undefined) throw new Error(`no file system is known for ${path}`);
  const needed = begins(desired, bytesFor(desired, group));
  return [
    withRoomAlone(desired, observed, desired.thinPool, needed, {
      name: `make the ${desired.fs.type} file system`,
      argv: mkfs(desired.fs, desired.uid, path),
      preconditions: [notDone(desired), ...madePreconditions(desired, group)],
      lock: path,
    }),
    syncDevice(path),
  ];
}

const syncDevice = (path: string): Step => ({
  name: 'sync the device',
  argv: ['sync', path],
  preconditions: [],
});

/** Fills it, and makes it the Volume's once it is whole. A thin one reads as zeros until then. */
function fillIn(
  desired: DesiredLvm,
  observed: ObservedLvm,
  group: VolumeGroup,
  intent: Intent,
  fill: Fill,
): Step[] {
  const { uid, vgName, name, thinPool } = desired;
  const path = lvPath(desired);
  const sizeBytes = bytesFor(desired, group);
  const content =
    desired.mode === 'Filesystem' && desired.fs !== undefined ? desired.fs.type : 'block';
  const isZero = poolOf(observed, thinPool)?.zeroes ?? false;
  const step = fillStep(fill, { path, uid, content, offsetBytes: 0n, sizeBytes, isZero });
  const preconditions = [notDone(desired), ...isMadePreconditions(desired, unfinishedTag(uid))];
  // After a crash that says where what is on it comes from.
  const [first, ...others] = writeIntent({ ...intent, filling: true });
  const empty = content === 'block' ? madePreconditions(desired, group) : [];
  return [
    ...(first === undefined
      ? []
      : [{ ...first, preconditions: [...first.preconditions, ...empty] }, ...others]),
    { ...step, preconditions: [...preconditions, ...step.preconditions] },
    syncDevice(path),
    finish({ uid, vgName, name }),
  ];
}

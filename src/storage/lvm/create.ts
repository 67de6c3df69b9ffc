import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { emptyPreconditions } from '../block/preconditions.ts';
import { linkOf } from '../links.ts';
import { mkfs } from '../mkfs.ts';
import { fillStep } from '../populate/fill.ts';
import type { Fill } from '../populate/types.ts';
import { donePath, intentOf, writeDone, writeIntent } from '../records.ts';
import type { DesiredLvm, Intent, ObservedLvm } from '../types.ts';
import { makeRule, triggerUdev, waitForLink } from '../udev.ts';
import { contentOf, rangeOf, sameContentPreconditions } from './content.ts';
import { finish } from './copy.ts';
import type { VolumeGroup } from './facts.ts';
import { extentsFor } from './group.ts';
import { printed, sameGroup } from './lvchange.ts';
import { dmNameOf, lvName, lvPath, tagOf, unfinishedTag } from './names.ts';
import { poolOf } from './pool.ts';
import { begins } from './refuse.ts';
import { withRoom, withRoomAlone } from './room.ts';

/** Returns the record for before the logical volume exists, without the UUID that LVM chooses. */
export function intentFor(desired: DesiredLvm, group: VolumeGroup, consent: string): Intent {
  const device = { path: lvPath(desired), identity: `vg=${group.uuid}` };
  const fresh = intentOf(desired, { device }, bytesFor(desired, group));
  return consent === '' ? fresh : { ...fresh, signature: consent, consent };
}

export const bytesFor = (desired: DesiredLvm, group: VolumeGroup): bigint =>
  extentsFor(desired, group) * group.extentBytes;

/** Returns the steps that make the logical volume, once nothing refuses it. */
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
  // Zeroing uses the kernel name of the device, which is known once the device exists.
  if (isZeroed(desired)) return made;
  return [
    ...made,
    ...(desired.mode === 'Filesystem' ? makeFileSystem(desired, observed, group) : []),
    ...(fill === undefined ? [] : fillIn(desired, observed, group, intent, fill)),
    ...(desired.mode === 'Filesystem' && fill === undefined
      ? done
      : done.map((step, index) => (index > 0 ? step : { ...step, preconditions }))),
    ...(desired.mode === 'Filesystem' ? [triggerUdev(lvName(desired, desired.name))] : []),
    waitForLink(linkOf(desired)),
  ];
}

/** Returns the udev key for the device's name, which an attach replaces by LVM's UUID. */
export const nameKey = (desired: DesiredLvm): string => `ATTR{dm/name}=="${dmNameOf(desired)}"`;

/** Precondition that the volume is not recorded as done: a late job must not make it again. */
export const notDone = (desired: DesiredLvm): Precondition => ({
  argv: ['test', '!', '-e', donePath(desired.uid)],
  expect: { exit: 0 },
  ...refuse('LogicalVolumeMadeMeanwhile', { path: lvPath(desired) }),
});

/** Reports whether zeros are written to the whole volume. A thin pool returns zeros by itself. */
export const isZeroed = ({ zeroed, thinPool }: DesiredLvm): boolean =>
  zeroed === true && thinPool === undefined;

/**
 * Reports whether all bytes are written before the logical volume becomes the Volume's: from a
 * source, or with zeros.
 */
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
 * Makes a thick logical volume. LVM checks for signatures before udev reads the device, so udev
 * never takes a file system copy in old extents for the original. LVM asks about a signature, takes
 * the empty standard input as no, and removes the volume again. `--yes` requires consent to the
 * content of probed extents, and is combined with these extents. Without blkid, LVM would know
 * three kinds of signatures and overwrite all others, so the command overrides lvm.conf.
 */
function lvcreate(
  desired: DesiredLvm,
  { free, passedOver, intent }: ObservedLvm,
  group: VolumeGroup,
): Step {
  const consented = contentOf(free) !== '';
  // In an earlier attempt, LVM may have found a signature in other extents.
  const chosen = desired.overwrite !== undefined || passedOver.length > 0 || intent !== undefined;
  return {
    name: `create the logical volume ${lvName(desired, desired.name)}`,
    argv: [
      'lvcreate',
      ...(consented ? ['--yes'] : []),
      ...['--config', 'allocation{use_blkid_wiping=1}'],
      ...named(desired),
      ...['--extents', String(extentsFor(desired, group)), '--wipesignatures', 'y', '--zero', 'y'],
      group.name,
      ...(chosen ? free.map(rangeOf) : []),
    ],
    // Explicitly empty, also for a plan pasted into a shell.
    stdin: '',
    preconditions: [
      notDone(desired),
      sameGroup(group),
      ...(chosen ? sameContentPreconditions(free) : []),
    ],
    // Another command may have taken these extents.
    ...(chosen ? { failureMeansConflict: true } : {}),
  };
}

/** Makes a thin volume. New ones read as zeros, so there is no content to check. */
function lvcreateThin(
  desired: DesiredLvm,
  observed: ObservedLvm,
  pool: string,
  group: VolumeGroup,
): Step {
  const bytes = bytesFor(desired, group);
  return withRoom(desired, observed, pool, begins(desired, bytes), {
    name: `create the thin volume ${lvName(desired, desired.name)}`,
    argv: [
      ...['lvcreate', ...named(desired), '--virtualsize', `${bytes}b`],
      ...['--thinpool', pool, group.name],
    ],
    preconditions: [notDone(desired), sameGroup(group)],
  });
}

/**
 * Preconditions that the path leads to the new logical volume, and that it is empty. A stale udev
 * link may lead to another logical volume that now has its number. LVM checks for no signatures if
 * lvm.conf prevents the activation.
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

/** Preconditions that the path leads to the new logical volume, whatever its content. */
export function isMadePreconditions(desired: DesiredLvm, tag = tagOf(desired.uid)): Precondition[] {
  const path = lvPath(desired);
  const changed = refuse('LogicalVolumeNotAsMade', { path });
  return [
    {
      argv: ['lvs', '--noheadings', '-o', 'lv_tags', lvName(desired, desired.name)],
      // No other tag is permitted.
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
  // Callers have already checked the storage class.
  if (desired.fs === undefined) throw new Error(`no file system is known for ${path}`);
  const needed = begins(desired, bytesFor(desired, group));
  return [
    withRoomAlone(desired, observed, desired.thinPool, needed, {
      name: `create the ${desired.fs.type} file system`,
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

/** Fills the logical volume, and marks it as the Volume's once it is whole. */
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
  // After a crash, the record shows that the content comes from the filling.
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

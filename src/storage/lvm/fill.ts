import { refuse } from '../../api/reasons.ts';
import type { Step } from '../../nodes/job.ts';
import { takeSignatureOff } from '../block/clean.ts';
import { isOurs } from '../block/ownership.ts';
import {
  lockOf,
  notInUsePreconditions,
  sameContentPreconditions,
  sameDmPreconditions,
} from '../block/preconditions.ts';
import { openUse, useOf } from '../holders.ts';
import { linkOf } from '../links.ts';
import { cancelPath, writeDone, writeIntent } from '../records.ts';
import type { DesiredLvm, DeviceFacts, ObservedLvm, Plan } from '../types.ts';
import { waitForLink } from '../udev.ts';
import { zero } from '../wipe.ts';
import { deactivate } from './activate.ts';
import { asRaw } from './as-raw.ts';
import { FREE_EXTENTS } from './content.ts';
import { finish, removeUnfinished, unfinished } from './copy.ts';
import { bytesFor, create, intentFor, isMadePreconditions, isZeroed } from './create.ts';
import { ensureActive } from './ensure-active.ts';
import type { LogicalVolume, VolumeGroup } from './facts.ts';
import { anyUidsIn, lvName, uidsIn } from './names.ts';
import { deviceOf } from './ownership.ts';
import { usedOf } from './pool.ts';
import { refuseCreate, refuseWrites } from './refuse.ts';
import { isGone, notOpen } from './remove.ts';

/**
 * All steps from nothing to a logical volume that is filled from elsewhere, or with zeros. It carries the tag of what is not finished until it is
 * whole, and what an earlier try left is taken away, and never gone on with: nobody knows how far that came.
 */
export function planFill(
  desired: DesiredLvm,
  observed: ObservedLvm,
  group: VolumeGroup,
  half: LogicalVolume | undefined,
): Plan {
  if (half !== undefined) {
    return isZeroed(desired) && half.sizeBytes === bytesFor(desired, group)
      ? planZero(desired, observed, group, half)
      : planAgain(desired, observed, group, half);
  }
  const refused = refuseCreate(desired, observed, group) ?? refuseWhole(desired, observed, group);
  return refused ?? { steps: create(desired, observed, group) };
}

/** A device of its size is there, and nothing of it is anybody's yet. */
function planZero(
  desired: DesiredLvm,
  observed: ObservedLvm,
  group: VolumeGroup,
  half: LogicalVolume,
): Plan {
  const free = freeDevice(desired, observed, half);
  if ('first' in free) return free.first;
  const { device } = free;
  const { uid, vgName, name } = desired;
  const [first, ...others] = writeDone(uid, half.sizeBytes);
  // After a crash the record tells that whoever finished it wrote zeros before.
  const intent = observed.intent ?? intentFor(desired, group, '');
  return {
    steps: [
      notOpen(device),
      ...(intent.filling ? [] : writeIntent({ ...intent, filling: true })),
      ...zero(`/dev/${device.name}`, half.sizeBytes, {
        preconditions: [
          {
            argv: ['test', '!', '-e', cancelPath(uid)],
            expect: { exit: 0 },
            ...refuse('FillGivenUp'),
          },
          ...sameDmPreconditions(device),
          ...notInUsePreconditions(device),
          unfinished({ uid, vgName, name: half.name }),
        ],
        first: sameContentPreconditions(device),
        lock: lockOf(device),
      }),
      finish({ uid, vgName, name }),
      ...(first === undefined
        ? []
        : [{ ...first, preconditions: [...first.preconditions, ...isMadePreconditions(desired)] }]),
      ...others,
      waitForLink(linkOf(desired)),
    ],
  };
}

/** Removes what an earlier try left, and begins anew in the same job: each job is a try, and those are counted. */
function planAgain(
  desired: DesiredLvm,
  observed: ObservedLvm,
  group: VolumeGroup,
  half: LogicalVolume,
): Plan {
  const left = release(desired, observed, half, (device) =>
    device.content === '' ? [] : [takeSignatureOff(device)],
  );
  if ('first' in left) return left.first;
  const removed = [...left.steps, ...removeUnfinished(desired, observed, half)];
  // What its extents carry is looked at again where somebody said what may be in them.
  const alone = desired.thinPool === undefined && desired.overwrite !== undefined;
  const rest = { ...observed, volumes: observed.volumes.filter((each) => each !== half) };
  const refused =
    desired.thinPool === undefined
      ? undefined
      : (refuseCreate(desired, rest, group) ?? refuseWhole(desired, rest, group, usedOf(half)));
  if (alone || refused !== undefined) return { steps: removed };
  const again = create(desired, rest, group).map((step) =>
    step.argv[0] === 'lvcreate'
      ? { ...step, preconditions: [isGone(desired, half), ...step.preconditions] }
      : step,
  );
  return { steps: [...removed, ...again] };
}

/**
 * Its pool must have room for all of it, and for all that may still be written to what is being filled beside it.
 * @param freed what its removal gives back before, in bytes
 */
function refuseWhole(desired: DesiredLvm, observed: ObservedLvm, group: VolumeGroup, freed = 0n) {
  const { thinPool } = desired;
  if (thinPool === undefined) return undefined;
  const bytes = bytesFor(desired, group);
  const promised = observed.volumes
    .filter(({ pool, tags }) => pool === thinPool && anyUidsIn(tags).length > uidsIn(tags).length)
    .reduce((sum, each) => sum + each.sizeBytes - usedOf(each), 0n);
  const beside = promised === 0n ? undefined : promised;
  const needed = bytes + promised - freed;
  const refused = refuseWrites(desired, thinPool, observed, needed, (room) =>
    refuse('ThinPoolFullToFill', { ...room, bytes, beside }),
  );
  return refused && { ...refused, retryable: true };
}

/**
 * What comes before an unfinished logical volume is removed, or what must be done `first`, before more can be told. Copies are thin and were
 * never active. One that was to be filled may be, and where it is not thin its signature would be in the way of whoever gets
 * its extents next, so that is cleaned.
 * @param wipes it is cleaned where it is thin as well
 */
export function release(
  desired: DesiredLvm,
  observed: ObservedLvm,
  half: LogicalVolume,
  clean: (device: DeviceFacts) => readonly Step[],
  wipes = false,
): { first: Plan } | { steps: Step[] } {
  const mine = [unfinished({ ...desired, name: half.name })];
  const isThin = half.pool !== undefined;
  if (isThin && !half.active && !wipes) return { steps: [] };
  const free = freeDevice(desired, observed, half);
  if ('first' in free) return free;
  const { device } = free;
  return {
    steps: [
      notOpen(device),
      ...(isThin && !wipes ? [] : clean(device).map((step) => withPreconditions(step, mine))),
      withPreconditions(deactivate(desired, half), notInUsePreconditions(device)),
    ],
  };
}

/** Its device, where nobody uses it and it carries nothing but what comes of its being made; or what comes `first`. */
function freeDevice(
  desired: DesiredLvm,
  observed: ObservedLvm,
  half: LogicalVolume,
): { first: Plan } | { device: DeviceFacts } {
  const isThin = half.pool !== undefined;
  const reached = ensureActive(desired, observed, half);
  if (reached !== undefined) return { first: reached };
  const device = deviceOf(observed, half);
  // It was reached.
  if (device === undefined) return { first: { steps: [] } };
  const { content } = device;
  const path = `/dev/${device.name}`;
  const found = { volume: lvName(desired, half.name), device: path };
  if (!isThin && content !== '' && !isKnown(desired, observed, device)) {
    return { first: refuse('UnfinishedCarriesData', { ...found, content }) };
  }
  const use = useOf(device, observed) ?? (half.open ? openUse(path) : undefined);
  if (use !== undefined) {
    const used = refuse('UnfinishedInUse', { ...found, uses: use.by, ...use.ended });
    return { first: { ...used, retryable: true } };
  }
  return { device };
}

/** What it carries comes of its being made: the file system around it, or after its filling was begun; or somebody gave it up. */
const isKnown = (desired: DesiredLvm, { intent }: ObservedLvm, device: DeviceFacts): boolean =>
  desired.overwrite === FREE_EXTENTS ||
  desired.overwrite?.split('+').includes(device.content) ||
  (desired.mode === 'Filesystem' ? isOurs(asRaw(desired), device) : intent?.filling === true);

const withPreconditions = (step: Step, preconditions: Step['preconditions']): Step => ({
  ...step,
  preconditions: [...step.preconditions, ...preconditions],
});

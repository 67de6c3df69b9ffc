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
 * Returns the steps that make a logical volume filled from a source or with zeros. It carries the
 * unfinished tag until it is whole. The content of an earlier attempt is discarded, since its
 * progress is unknown.
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

/** Writes zeros to an existing device of the wanted size, which holds no data yet. */
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
  // After a crash, the record shows that zeros were written before the volume was finished.
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

/**
 * Removes the remains of an earlier attempt and starts again in the same job, since each job counts
 * as an attempt.
 */
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
  // With a consent, the content of the extents is observed again first.
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
 * Refuses if the pool lacks room for the whole volume and for outstanding writes of other volumes
 * that are being filled.
 * @param freed bytes that the removal of an earlier attempt frees
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
 * Returns the steps before the removal of an unfinished logical volume, or a plan to run `first`.
 * Copies are thin and never active. A volume to be filled may be active. The signature of a thick
 * one would block the next owner of its extents, so it is cleaned.
 * @param wipes cleans a thin volume as well
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

/** Returns the device if it is unused and carries only known content, or a plan to run `first`. */
function freeDevice(
  desired: DesiredLvm,
  observed: ObservedLvm,
  half: LogicalVolume,
): { first: Plan } | { device: DeviceFacts } {
  const isThin = half.pool !== undefined;
  const reached = ensureActive(desired, observed, half);
  if (reached !== undefined) return { first: reached };
  const device = deviceOf(observed, half);
  // ensureActive refuses a missing device.
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

/**
 * Reports whether Stowage made the content: its file system, or content of a filling that began; or
 * whether the Volume consents to destroy it.
 */
const isKnown = (desired: DesiredLvm, { intent }: ObservedLvm, device: DeviceFacts): boolean =>
  desired.overwrite === FREE_EXTENTS ||
  desired.overwrite?.split('+').includes(device.content) ||
  (desired.mode === 'Filesystem' ? isOurs(asRaw(desired), device) : intent?.filling === true);

const withPreconditions = (step: Step, preconditions: Step['preconditions']): Step => ({
  ...step,
  preconditions: [...step.preconditions, ...preconditions],
});

import { refuse } from '../../api/reasons.ts';
import type { Step } from '../../nodes/job.ts';
import { sameDmPreconditions } from '../block/preconditions.ts';
import { growFileSystem, leaveMount } from '../grow-file-system.ts';
import { recordSize, writeDone } from '../records.ts';
import type { DesiredLvm, DeviceFacts, ObservedLvm, Plan } from '../types.ts';
import { contentOf, extentsIn, rangeOf, sameContentPreconditions } from './content.ts';
import type { LogicalVolume, VolumeGroup } from './facts.ts';
import { extentsFor, refuseChange } from './group.ts';
import { sameVolume } from './lvchange.ts';
import { lvName } from './names.ts';
import { refuseWrites, written } from './refuse.ts';
import { withRoom, withRoomAlone } from './room.ts';

/**
 * Returns the remaining steps until the volume has the wanted size: grows the logical volume, then
 * the file system, both also while in use. Records the size last. A volume that cannot grow stays
 * usable, so the refusal becomes a note.
 */
export function planGrow(
  desired: DesiredLvm,
  observed: ObservedLvm,
  group: VolumeGroup,
  own: LogicalVolume,
  device: DeviceFacts,
): Plan {
  const wanted = extentsFor(desired, group) * group.extentBytes;
  const left = leaveMount(desired.uid, device, observed);
  // Without a recorded size, the last growth was complete.
  const made = observed.done?.sizeBytes ?? own.sizeBytes;
  if (wanted <= made) return { steps: left };
  const missing = wanted > own.sizeBytes ? wanted - own.sizeBytes : 0n;
  // The record shows that the file system is behind, after an interruption or a foreign lvextend.
  const before =
    observed.done?.sizeBytes === undefined && missing > 0n
      ? recordSize(desired.uid, own.sizeBytes)
      : [];
  const refused =
    (missing > 0n ? whyNot(observed, own, group, missing) : undefined) ??
    poolRefusal(desired, observed, own, wanted - made);
  if (refused !== undefined) {
    if (before.length > 0) return { grows: true, steps: [...left, ...before] };
    const { refusal, reason } = refuse('CannotGrow', { bytes: wanted, why: refused });
    return { steps: left, notes: [refusal], reason };
  }
  const needed = growthWrites(desired, wanted - made);
  const extended = extend(desired, observed, own, group);
  const alone = (step: Step) => withRoomAlone(desired, observed, own.pool, needed, step);
  return {
    grows: true,
    steps: [
      ...left,
      ...before,
      ...(missing > 0n ? [withRoom(desired, observed, own.pool, needed, extended)] : []),
      ...(desired.mode === 'Filesystem'
        ? growFileSystem(desired.uid, device, device.signature, {
            ...observed,
            growsMounted: true,
          }).map(
            // A copy, such as a snapshot, has the same UUID.
            (step) =>
              alone({
                ...step,
                preconditions: [...sameDmPreconditions(device), ...step.preconditions],
              }),
          )
        : []),
      ...writeDone(desired.uid, wanted),
    ],
  };
}

function whyNot(
  { free }: ObservedLvm,
  own: LogicalVolume,
  group: VolumeGroup,
  missing: bigint,
): string | undefined {
  const refused = refuseChange(group);
  if (refused !== undefined) return refused.refusal;
  if (!['-', 'V'].includes(own.kind)) {
    return `it has snapshots or consists of several parts (lvs shows its type as ${own.kind}). Extend it with lvextend; Stowage then grows its file system`;
  }
  if (own.striped)
    return 'it is striped over several disks. Extend it with lvextend; Stowage then grows its file system';
  // A thin volume takes nothing from its pool until it is written.
  if (own.pool !== undefined) return undefined;
  const left = group.freeExtents * group.extentBytes;
  if (missing > left)
    return `the volume group ${group.name} has ${left} bytes left, and ${missing} more are needed`;
  if (extentsIn(free) * group.extentBytes < missing)
    return `too few of the free extents of ${group.name} are on allocatable disks (pvs shows those with an a)`;
  const content = contentOf(free);
  // Some signatures are at the end of a device. With one there, the content would be ambivalent.
  return content === ''
    ? undefined
    : `the free extents of ${group.name} for it contain ${content}. Let LVM wipe that: create a logical volume from these extents, and remove it`;
}

const growthWrites = ({ mode }: DesiredLvm, more: bigint): bigint =>
  mode === 'Filesystem' ? written(more) : 0n;

/**
 * Refuses growth for which the pool lacks room: a mounted file system writes to its new part, and
 * breaks if the pool is full.
 */
function poolRefusal(
  desired: DesiredLvm,
  observed: ObservedLvm,
  { pool }: LogicalVolume,
  more: bigint,
): string | undefined {
  if (pool === undefined) return undefined;
  const needed = growthWrites(desired, more);
  return refuseWrites(desired, pool, observed, needed, (room) =>
    refuse('ThinPoolFullToGrow', { ...room, bytes: more }),
  )?.refusal;
}

/**
 * Extends to an absolute size, so that a repetition changes nothing; lvextend never shrinks. LVM
 * does not check for signatures here, so the step names probed extents.
 */
function extend(
  desired: DesiredLvm,
  { free }: ObservedLvm,
  own: LogicalVolume,
  group: VolumeGroup,
): Step {
  return {
    name: `grow the logical volume ${lvName(desired, own.name)}`,
    argv: [
      ...['lvextend', '--extents', String(extentsFor(desired, group)), lvName(desired, own.name)],
      ...free.map(rangeOf),
    ],
    preconditions: [sameVolume(desired, own), ...sameContentPreconditions(free)],
    // Another command may have taken these extents.
    failureMeansConflict: true,
  };
}

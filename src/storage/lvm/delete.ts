import { OR_RETAIN } from '../../api/reasons/lvm.ts';
import { refuse } from '../../api/reasons.ts';
import type { Step } from '../../nodes/job.ts';
import { halfAdopted } from '../adoption.ts';
import { takeSignatureOff, wipeDevice } from '../block/clean.ts';
import { isOurs } from '../block/ownership.ts';
import { notInUsePreconditions } from '../block/preconditions.ts';
import { leaveMount } from '../grow-file-system.ts';
import { openUse, useOf } from '../holders.ts';
import { removeIntent, removeRecords } from '../records.ts';
import type { DesiredLvm, DeviceFacts, ObservedLvm, Plan } from '../types.ts';
import { dropLink } from '../udev.ts';
import { partOf } from '../wipe.ts';
import { addTag, deactivate, takeTag } from './activate.ts';
import { planPutBack } from './adopt.ts';
import { asRaw, rawOf } from './as-raw.ts';
import { removeUnfinished, unfinishedIn } from './copy.ts';
import { ensureActive } from './ensure-active.ts';
import type { LogicalVolume } from './facts.ts';
import { release } from './fill.ts';
import { groupOf, refuseChange } from './group.ts';
import { sameVolume } from './lvchange.ts';
import { isTagged, lvName, tagOf } from './names.ts';
import { deviceOf, isMarked, ownOf, refuseTags, takenBy, whose } from './ownership.ts';
import { refuseWrites } from './refuse.ts';
import { ALONE, isGone, lvremove, notOpen } from './remove.ts';
import { removeUnusable } from './remove-unusable.ts';
import { withRoom } from './room.ts';

/**
 * Returns the remaining steps until the logical volume is released: retained, or removed once its
 * signature is erased or every byte is overwritten. An unfinished volume holds nobody's data, and
 * is always removed.
 */
export function planDelete(desired: DesiredLvm, observed: ObservedLvm): Plan {
  const from = halfAdopted(desired, observed);
  if (from !== undefined) return planPutBack(desired, from, observed);
  const made = observed.done !== undefined || desired.recorded;
  const begun = observed.intent !== undefined || made;
  const records = observed.recordFiles ? removeRecords(desired.uid) : [];
  const half = planUnfinished(desired, observed, made, records);
  if (half !== undefined) return half;
  if (!begun) return forgotten(desired, observed, records);
  const retained = desired.onDelete === 'Retain';
  const group = groupOf(desired, observed);
  // Removes the intent first: partial records must never resemble those of an unfinished volume.
  const keep = observed.recordFiles ? [...removeIntent(desired.uid), ...records] : records;
  if ('refusal' in group) return retained ? { steps: keep } : { ...group, hint: OR_RETAIN };
  const own = ownOf(desired, observed.volumes);
  if (own === undefined) return { steps: records };
  const owner = whose(desired, observed, own);
  const refused = refuseChange(group);
  const doubtful = refuseTags(desired, observed, own);
  if (retained && made) {
    const device = owner === 'ours' ? deviceOf(observed, own) : undefined;
    const left = device === undefined ? [] : leaveMount(desired.uid, device, observed);
    // Without its tag, the next owner's volume is not taken for this Volume's.
    const tag =
      owner === 'ours' && isTagged(own, desired.uid) && (refused ?? doubtful) === undefined;
    const dropped = [...left, ...dropLink(desired, observed)];
    return { steps: [...dropped, ...(tag ? [takeTag(desired, own), ...records] : keep)] };
  }
  const name = lvName(desired, own.name);
  const taken = takenBy(observed, own);
  if (taken !== undefined) {
    // This Volume was released completely before a backup restored it.
    if (!observed.recordFiles) return { steps: [] };
    const of = taken.name === undefined ? { uid: taken.uid } : { other: taken.name };
    return refuse('LogicalVolumeOfAnother', { volume: name, ...of });
  }
  if (owner !== 'ours') {
    // Stowage tags the volumes that it makes, and an unfinished Volume leaves nothing untagged.
    return made ? refuse('LogicalVolumeNotOurs', { volume: name }) : { steps: records };
  }
  if (!isMarked(desired, observed, own)) return refuse('LogicalVolumeUnmarked', { volume: name });
  if (refused !== undefined) return { ...refused, hint: OR_RETAIN };
  if (doubtful !== undefined) return doubtful;
  if (!ALONE.includes(own.kind)) {
    return refuse('LogicalVolumeNotAlone', { volume: name, type: own.kind });
  }
  return remove(desired, observed, own, made, records);
}

/**
 * Plans the removal of an unfinished logical volume, a copy or one that was being filled. It holds
 * nobody's data, so it is always removed, whatever the records contain.
 */
function planUnfinished(
  desired: DesiredLvm,
  observed: ObservedLvm,
  made: boolean,
  records: readonly Step[],
): Plan | undefined {
  const left = unfinishedIn(observed, desired.uid);
  const group = groupOf(desired, observed);
  if (left === undefined || 'refusal' in group) return undefined;
  const refused = refuseChange(group);
  if (refused !== undefined) return { ...refused, hint: OR_RETAIN };
  // A thin pool may pass the blocks to other volumes without overwriting them.
  const wipes = desired.onDelete === 'Wipe' && observed.intent?.filling === true;
  const full = wipes ? noRoomToWipe(desired, observed, left) : undefined;
  if (full !== undefined) return full;
  const cleaned = (device: DeviceFacts) => clean(desired, observed, left, device);
  const released = release(desired, observed, left, cleaned, wipes);
  if ('first' in released) return released.first;
  const removed = [...released.steps, ...removeUnfinished(desired, observed, left)];
  // Records of a finished volume describe another logical volume, and stay.
  return { steps: made ? removed : [...removed, ...onceGone(desired, left, records)] };
}

/**
 * Handles a Volume without status and records. A tag shows that Stowage made the logical volume,
 * but not what it holds now.
 */
function forgotten(desired: DesiredLvm, observed: ObservedLvm, records: readonly Step[]): Plan {
  const group = groupOf(desired, observed);
  const own = ownOf(desired, observed.volumes);
  if ('refusal' in group || own === undefined || !isTagged(own, desired.uid))
    return { steps: records };
  if (desired.onDelete === 'Retain') {
    const doubtful = refuseChange(group) ?? refuseTags(desired, observed, own);
    return { steps: [...(doubtful === undefined ? [takeTag(desired, own)] : []), ...records] };
  }
  return refuse('LogicalVolumeUnknown', { volume: lvName(desired, own.name) });
}

function remove(
  desired: DesiredLvm,
  observed: ObservedLvm,
  own: LogicalVolume,
  made: boolean,
  records: readonly Step[],
): Plan {
  // A logical volume of MetalK8s has no tag yet. Without its signature, only a tag identifies it.
  const tag = isTagged(own, desired.uid) ? [] : [addTag(desired, own)];
  const gone = [lvremove(desired, own, tagOf(desired.uid)), ...onceGone(desired, own, records)];
  const wiped = observed.wiped !== undefined && observed.wiped >= own.sizeBytes;
  // A volume not recorded as made may hold content of its filling.
  const toClean = !wiped && (desired.onDelete === 'Wipe' || (made && own.pool === undefined));
  // Another program may have written other content.
  const toInspect = toClean || (made && !wiped && desired.mode === 'Filesystem');
  // A thick volume leaves the content of its filling in the group.
  const toSee = toInspect || (observed.intent?.filling === true && !made && own.pool === undefined);
  if (!own.active && !toSee) return { steps: [...tag, ...gone] };
  const instead = removeUnusable(desired, observed, own);
  const reached = ensureActive(desired, observed, own, instead);
  if (reached !== undefined) return reached;
  const device = deviceOf(observed, own);
  if (device === undefined) return { steps: [] };
  const left = leaveMount(desired.uid, device, observed);
  if (left.length > 0) return { steps: left };
  const path = `/dev/${device.name}`;
  const use = useOf(device, observed) ?? (own.open ? openUse(path) : undefined);
  if (use !== undefined) {
    const used = { volume: lvName(desired, own.name), device: path, uses: use.by, ...use.ended };
    return { ...refuse('LogicalVolumeInUse', used), retryable: true };
  }
  const { content } = device;
  if (
    toInspect &&
    desired.mode === 'Filesystem' &&
    content !== '' &&
    !isOurs(asRaw(desired), device)
  ) {
    return refuse('LogicalVolumeCarriesOther', { device: path, content });
  }
  const full = toClean ? noRoomToWipe(desired, observed, own) : undefined;
  if (full !== undefined) return full;
  return {
    steps: [
      notOpen(device),
      ...tag,
      ...(toClean ? clean(desired, observed, own, device) : []),
      // A signature of an interrupted mkfs or filling would also block the extents' next owner.
      ...(!made &&
      !toClean &&
      own.pool === undefined &&
      device.content !== '' &&
      isOurs(asRaw(desired), device)
        ? [takeSignatureOff(device)]
        : []),
      {
        ...deactivate(desired, own),
        preconditions: [sameVolume(desired, own), ...notInUsePreconditions(device)],
      },
      ...gone,
    ],
  };
}

/** Refuses to wipe a thin volume if its pool lacks room for one part of the wipe. */
function noRoomToWipe(
  desired: DesiredLvm,
  observed: ObservedLvm,
  own: LogicalVolume,
): Plan | undefined {
  if (own.pool === undefined) return undefined;
  const full = refuseWrites(desired, own.pool, observed, partOf(own.sizeBytes), (room) =>
    refuse('ThinPoolFullToWipe', room),
  );
  return full && { ...full, hint: OR_RETAIN, retryable: true };
}

/**
 * Wipes the device, or removes its signature, which would block the next owner of the extents. Only
 * thick volumes leave signatures.
 */
function clean(
  desired: DesiredLvm,
  observed: ObservedLvm,
  own: LogicalVolume,
  device: DeviceFacts,
): readonly Step[] {
  if (desired.onDelete !== 'Wipe') return device.content === '' ? [] : [takeSignatureOff(device)];
  const thin = own.pool !== undefined;
  return wipeDevice(asRaw(desired), rawOf(observed), device, { known: true, thin }).map((step) =>
    step.argv[1] === 'if=/dev/zero'
      ? withRoom(desired, observed, own.pool, partOf(own.sizeBytes), step)
      : step,
  );
}

/** Removes the records once the logical volume is gone. */
function onceGone(
  desired: DesiredLvm,
  own: LogicalVolume,
  [first, ...others]: readonly Step[],
): Step[] {
  if (first === undefined) return [];
  return [{ ...first, preconditions: [isGone(desired, own), ...first.preconditions] }, ...others];
}

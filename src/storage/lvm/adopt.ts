import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { adoptionOf, forgetEarlier, notAdopted, otherAdoption, putBackAway } from '../adoption.ts';
import { mayBeHalf, putBackLater, refuseContent, rename, withoutEarlier } from '../block/adopt.ts';
import { makeLink } from '../block/attach.ts';
import { isOurs } from '../block/ownership.ts';
import { ofAnother, useOf } from '../block/refuse.ts';
import { removeRecords, writeDone, writeIntent } from '../records.ts';
import type { DesiredLvm, DeviceFacts, ObservedLvm, Plan, Refusal } from '../types.ts';
import { addTag, takeTag } from './activate.ts';
import { asRaw, rawOf } from './as-raw.ts';
import { HOLDS_DATA } from './attach.ts';
import { ensureActive } from './ensure-active.ts';
import type { LogicalVolume, VolumeGroup } from './facts.ts';
import { groupOf, refuseChange } from './group.ts';
import { sameVolume } from './lvchange.ts';
import { isSnapshotName, isTagged, lvName, lvPath, tagOf, uidsIn } from './names.ts';
import { deviceOf } from './ownership.ts';
import { poolWanted, refuseWrites } from './refuse.ts';

/** Bytes that a new UUID may write, including writes of the e2fsck before it. */
const WRITES = 16n << 20n;

/**
 * Returns the remaining steps of adopting a logical volume with another Volume's data. They change
 * the file system's UUID, then the name, then the tag that identifies the volume.
 * @param from UID in the tag
 */
export function planAdopt(desired: DesiredLvm, from: string, observed: ObservedLvm): Plan {
  const { intent } = observed;
  const group = groupOf(desired, observed);
  // A disk may come late after the node has started.
  if ('refusal' in group) return { ...group, retryable: intent !== undefined };
  const own = adopted(desired, from, observed);
  if ('refusal' in own) return own;
  const odd =
    otherAdoption(from, observed) ??
    refuseChange(group) ??
    refuseOther(desired, from, observed, own);
  if (odd !== undefined) return odd;
  const reached = ensureActive(desired, observed, own);
  if (reached !== undefined) return reached;
  const device = deviceOf(observed, own);
  // ensureActive refuses a missing device.
  if (device === undefined) return { steps: [] };
  const refusal = refuseDevice(desired, from, observed, own, device);
  if (refusal !== undefined) return refusal;
  return {
    steps: [
      ...(intent === undefined ? writeIntent(intentFor(desired, from, group, own, device)) : []),
      ...become(desired, from, own, device),
      ...forgetEarlier(from),
      ...writeDone(desired.uid, own.sizeBytes),
      ...makeLink(asRaw(desired), device, undefined),
    ],
  };
}

/**
 * Returns the remaining steps to roll back an unfinished adoption whose Volume is deleted. The
 * logical volume gets its earlier UID back, and keeps its name. With the Volume's tag, it would be
 * taken for the deleted Volume's storage.
 */
export function planPutBack(desired: DesiredLvm, from: string, observed: ObservedLvm): Plan {
  const records = removeRecords(desired.uid);
  const group = groupOf(desired, observed);
  if ('refusal' in group) return putBackAway(desired, group.refusal, group.reason);
  const own = adopted(desired, from, observed);
  // If several logical volumes have a tag, one of them may be half adopted.
  if ('refusal' in own)
    return observed.volumes.some(hasEither(desired, from)) ? own : { steps: records };
  const reached = refuseChange(group) ?? ensureActive(desired, observed, own);
  if (reached !== undefined) return reached;
  const device = deviceOf(observed, own);
  if (device === undefined) return { steps: records };
  const raw = asRaw(desired);
  const isChanged =
    desired.mode === 'Filesystem' && (isOurs(raw, device) || mayBeHalf(raw, from, device));
  const use = isChanged ? useOf(device, observed) : undefined;
  if (use !== undefined) return putBackLater(use.seen);
  return {
    steps: [
      ...(isChanged ? rename(asRaw(desired), device, from) : []),
      ...tagAs(desired, own, { from: desired.uid, to: from }),
      ...records,
    ],
  };
}

const hasEither =
  ({ uid }: Pick<DesiredLvm, 'uid'>, from: string) =>
  (each: LogicalVolume): boolean =>
    isTagged(each, from) || isTagged(each, uid);

/** Returns the only logical volume with the earlier or the new tag, or why there is none. */
function adopted(
  { uid, vgName }: DesiredLvm,
  from: string,
  { volumes }: ObservedLvm,
): LogicalVolume | Refusal {
  const [own, second] = volumes.filter(hasEither({ uid }, from));
  if (own === undefined) {
    return refuse('AdoptedTagMissing', { group: vgName, tag: tagOf(from) });
  }
  if (second !== undefined) {
    const several = { first: own.name, second: second.name };
    return refuse('AdoptedTagOnSeveral', { group: vgName, tag: tagOf(from), ...several });
  }
  return own;
}

function refuseOther(
  desired: DesiredLvm,
  from: string,
  observed: ObservedLvm,
  own: LogicalVolume,
): Refusal | undefined {
  const name = lvName(desired, own.name);
  const other = uidsIn(own.tags).find((each) => each !== from && each !== desired.uid);
  if (other !== undefined) return refuse('AdoptedTagOfAnother', { volume: name, uid: other });
  if (isSnapshotName(own.name)) return refuse('AdoptedIsSnapshot', { volume: name });
  if (!HOLDS_DATA.includes(own.kind)) {
    const found = { volume: name, type: own.kind, group: desired.vgName };
    return refuse('LogicalVolumeHoldsNoData', found);
  }
  if (own.name !== desired.name && observed.volumes.some((each) => each.name === desired.name)) {
    return refuse('AdoptedNameTaken', { taken: lvName(desired, desired.name), volume: name });
  }
  if (own.pool !== desired.thinPool) {
    const asked = { volume: name, wanted: poolWanted(desired) };
    return own.pool === undefined
      ? refuse('AdoptedIsNotThin', asked)
      : refuse('AdoptedInAnotherPool', { ...asked, pool: own.pool });
  }
  return own.pool === undefined
    ? undefined
    : refuseWrites(desired, own.pool, observed, WRITES, (room) =>
        refuse('ThinPoolFullToAdopt', room),
      );
}

function refuseDevice(
  desired: DesiredLvm,
  from: string,
  observed: ObservedLvm,
  own: LogicalVolume,
  device: DeviceFacts,
): Refusal | undefined {
  const known = withoutEarlier(rawOf(observed), from);
  const other = ofAnother(device, { others: known.others });
  if (other !== undefined) {
    return refuse(other.isSure ? 'DeviceOfAnother' : 'DeviceMaybeOfAnother', other.of);
  }
  const use = useOf(device, observed);
  if (use !== undefined) return refuse('UseHoldsAdoption', { ...use.seen, ...use.ended });
  // In mode Block only the tag identifies the volume.
  if (desired.mode === 'Block') {
    const { signature } = device;
    const isFileSystem = signature.found === 'one' && signature.uuid === from;
    if (!isFileSystem) return undefined;
    const volume = lvName(desired, own.name);
    return refuse('AdoptedModeDiffers', { volume, found: 'Filesystem', mode: 'Block' });
  }
  return refuseContent(asRaw(desired), from, device, observed.intent);
}

function intentFor(
  desired: DesiredLvm,
  from: string,
  group: VolumeGroup,
  { sizeBytes }: LogicalVolume,
  { signature, content }: DeviceFacts,
) {
  const device = { path: lvPath(desired), identity: `vg=${group.uuid}` };
  const fsType = desired.mode === 'Filesystem' && signature.found === 'one' ? signature.type : '';
  return adoptionOf(desired, from, { device }, { sizeBytes, fsType, signature: content || 'none' });
}

function become(
  desired: DesiredLvm,
  from: string,
  own: LogicalVolume,
  device: DeviceFacts,
): Step[] {
  const { name, uid } = desired;
  const late = notAdopted(desired);
  return [
    ...(desired.mode === 'Filesystem' ? rename(asRaw(desired), device) : []),
    ...(own.name === name
      ? []
      : [
          {
            name: `rename ${lvName(desired, own.name)} to ${name}`,
            argv: ['lvrename', lvName(desired, own.name), lvName(desired, name)],
            preconditions: [
              late,
              sameVolume(desired, own),
              hasTag(desired, own, isTagged(own, from) ? from : uid),
            ],
          },
        ]),
    ...tagAs(desired, { ...own, name }, { from, to: uid }),
  ];
}

/**
 * Replaces the tag. Removes the old tag last, so that a tag always identifies the logical volume.
 */
function tagAs(
  desired: DesiredLvm,
  own: LogicalVolume,
  { from, to }: { from: string; to: string },
): Step[] {
  const guarded = (step: Step, uid: string): Step => ({
    ...step,
    preconditions: [notAdopted(desired), ...step.preconditions, hasTag(desired, own, uid)],
  });
  return [
    ...(isTagged(own, to) ? [] : [guarded(addTag({ ...desired, uid: to }, own), from)]),
    ...(isTagged(own, from) ? [guarded(takeTag({ ...desired, uid: from }, own), to)] : []),
  ];
}

/** Precondition that no other Volume has adopted the logical volume since the observation. */
const hasTag = (desired: DesiredLvm, { name }: LogicalVolume, uid: string): Precondition => ({
  argv: ['lvs', '--noheadings', '-o', 'lv_tags', lvName(desired, name)],
  expect: { exit: 0, stdout: { has: tagOf(uid), lacks: '\t' } },
  ...refuse('AdoptedTagGone', { volume: lvName(desired, name), tag: tagOf(uid) }),
});

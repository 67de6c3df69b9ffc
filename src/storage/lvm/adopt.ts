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
import { refuseWrites } from './refuse.ts';

/** Bytes that a new UUID writes, with those that e2fsck may write before it. */
const WRITES = 16n << 20n;

/**
 * Returns what remains to be done until a logical volume with another Volume's data is this Volume's: its file system has the
 * Volume's UUID, then it has the Volume's name, then the tag that it is known by.
 * @param from the UID in its tag
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
  // It was reached.
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
 * Returns what remains to be done where the Volume is deleted before its adoption has come to its end: the logical volume gets back
 * the UID that it had, and keeps the name. By the Volume's tag it would be taken for what is left of that.
 */
export function planPutBack(desired: DesiredLvm, from: string, observed: ObservedLvm): Plan {
  const records = removeRecords(desired.uid);
  const group = groupOf(desired, observed);
  if ('refusal' in group) return putBackAway(desired, group.refusal);
  const own = adopted(desired, from, observed);
  // Where several have the tag, one of them may be half adopted.
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
  if (use !== undefined) return putBackLater(use.refusal);
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

/** The one logical volume that has the tag, the earlier or the new one. */
function adopted(
  { uid, vgName }: DesiredLvm,
  from: string,
  { volumes }: ObservedLvm,
): LogicalVolume | Refusal {
  const [own, second] = volumes.filter(hasEither({ uid }, from));
  if (own === undefined) {
    return {
      refusal: `no logical volume of ${vgName} has the tag ${tagOf(from)}`,
      hint: `Check the group and the UID. One that MetalK8s made has no tag; if it is that, and nothing else, give it one: lvchange --addtag ${tagOf(from)} ${vgName}/NAME.`,
    };
  }
  if (second !== undefined) {
    return {
      refusal: `several logical volumes of ${vgName} have the tag ${tagOf(from)}: ${own.name}, ${second.name}`,
      hint: `Take it off all but the one that is to be adopted: lvchange --deltag ${tagOf(from)} ${vgName}/NAME.`,
    };
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
  if (other !== undefined) {
    return {
      refusal: `the logical volume ${name} has the tag of another Volume, too, with the UID ${other}`,
      hint: `Take off the tag that is wrong: lvchange --deltag ${tagOf(other)} ${name}.`,
    };
  }
  if (isSnapshotName(own.name)) {
    return {
      refusal: `the logical volume ${name} is a snapshot, by its name, and no Volume's`,
      hint: 'A snapshot is not adopted. Restore it: create a claim whose dataSource is its VolumeSnapshot.',
    };
  }
  if (!HOLDS_DATA.includes(own.kind)) {
    return {
      refusal: `${name} is no logical volume that holds a Volume's data: lvs shows it as ${own.kind}`,
      hint: `Look at it on the node: lvs -a ${desired.vgName}.`,
    };
  }
  if (own.name !== desired.name && observed.volumes.some((each) => each.name === desired.name)) {
    return {
      refusal: `there is a logical volume ${lvName(desired, desired.name)} already, and ${name} is to get that name`,
      hint: 'Name the Volume otherwise, or rename that logical volume if nothing needs its name.',
    };
  }
  if (own.pool !== desired.thinPool) {
    const is = own.pool === undefined ? 'is not thin' : `is of the thin pool ${own.pool}`;
    return {
      refusal: `the logical volume ${name} ${is}, and the Volume asks for ${desired.thinPool === undefined ? 'one that is not' : `the pool ${desired.thinPool}`}`,
      hint:
        own.pool === undefined
          ? 'Leave thinPool out.'
          : `Set spec.lvmLogicalVolume.thinPool to ${own.pool}.`,
    };
  }
  return own.pool === undefined
    ? undefined
    : refuseWrites(
        desired,
        own.pool,
        observed,
        WRITES,
        `adopting a volume of it may write ${WRITES}`,
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
    return { refusal: other, hint: 'Two Volumes cannot share a device. Delete that Volume first.' };
  }
  const use = useOf(device, observed);
  if (use !== undefined) {
    return {
      refusal: use.refusal,
      hint: `What is in use is not adopted. Take it out of use. ${use.end}`,
    };
  }
  // Its tag says whose it is, in mode Block nothing else does.
  if (desired.mode === 'Block') {
    const { signature } = device;
    const isFileSystem = signature.found === 'one' && signature.uuid === from;
    if (!isFileSystem) return undefined;
    return {
      refusal: `the logical volume ${lvName(desired, own.name)} is of a Volume of mode Filesystem, and not Block`,
      hint: 'Create the Volume with mode Filesystem.',
    };
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
            name: `give ${lvName(desired, own.name)} the name ${name}`,
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

/** The tag that goes is taken off last: by either of them the logical volume is found. */
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

/** Nobody else has adopted it since it was looked at. */
const hasTag = (desired: DesiredLvm, { name }: LogicalVolume, uid: string): Precondition => ({
  argv: ['lvs', '--noheadings', '-o', 'lv_tags', lvName(desired, name)],
  expect: { exit: 0, stdout: { has: tagOf(uid), lacks: '\t' } },
  refusal: `${lvName(desired, name)} no longer has the tag ${tagOf(uid)}`,
});

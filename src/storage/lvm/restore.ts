import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { makeLink } from '../block/attach.ts';
import { linkOf } from '../links.ts';
import { writeDone, writeIntent } from '../records.ts';
import { ownBlkid } from '../signature.ts';
import type { DesiredLvm, DeviceFacts, ObservedLvm, Plan, Refusal, ThinSource } from '../types.ts';
import { makeRule, noUdev, triggerUdev, waitForLink } from '../udev.ts';
import { asRaw } from './as-raw.ts';
import { finish, identify, leaveUnfinished, takeCopy, unfinished } from './copy.ts';
import { intentFor, isMadePreconditions, nameKey, notDone } from './create.ts';
import type { LogicalVolume, VolumeGroup } from './facts.ts';
import { extentsFor } from './group.ts';
import { change } from './lvchange.ts';
import { isTagged, lvName, lvPath } from './names.ts';
import { wakePool } from './pool.ts';
import { begins, refusePool } from './refuse.ts';
import { withRoom, withRoomAlone } from './room.ts';

/**
 * Returns all steps that make a volume from another's content: a thin snapshot of the requested
 * size. The snapshot gets its own identity before udev sees it. Remains of an earlier attempt are
 * removed, and never continued. Without the source, nothing is made, and never an empty volume.
 */
export function planRestore(
  desired: DesiredLvm,
  observed: ObservedLvm,
  group: VolumeGroup,
  source: ThinSource,
): Plan {
  const origin = originOf(desired, observed, group, source);
  if ('refusal' in origin) return origin;
  if (!observed.udev) return noUdev(linkOf(desired));
  const awake = wakePool(desired, observed);
  if (awake.length > 0) return { steps: awake };
  const left = leaveUnfinished(desired, observed);
  // The pool may be suspended; the removal steps resume it.
  if (left.length > 0) return { steps: left };
  const bytes = extentsFor(desired, group) * group.extentBytes;
  const refused = refusePool(desired, origin.pool ?? '', observed, bytes);
  if (refused !== undefined) return refused;
  const intent = intentFor(desired, group, '');
  const known = JSON.stringify(observed.intent) === JSON.stringify(intent);
  return {
    steps: [
      ...(known ? [] : writeIntent(intent)),
      ...make(desired, observed, group, source, origin),
    ],
  };
}

function make(
  desired: DesiredLvm,
  observed: ObservedLvm,
  group: VolumeGroup,
  source: ThinSource,
  origin: LogicalVolume,
): Step[] {
  const { uid, vgName, name, mode } = desired;
  const copy = { vgName, name, uid };
  const bytes = extentsFor(desired, group) * group.extentBytes;
  const needed = begins(desired, bytes);
  const once: Precondition[] = [notDone(desired)];
  const guarded = (step: Step): Step => ({
    ...step,
    preconditions: [...once, ...step.preconditions],
  });
  const files = mode === 'Filesystem';
  const made = isMadePreconditions(desired);
  return [
    withRoom(
      desired,
      observed,
      origin.pool,
      needed,
      takeCopy(copy, origin, source.uid, 'rw', once),
    ),
    ...(bytes > origin.sizeBytes
      ? [
          {
            name: `grow the logical volume ${lvName(copy, name)}`,
            argv: ['lvextend', '--extents', String(extentsFor(desired, group)), lvName(copy, name)],
            preconditions: [unfinished(copy)],
          },
        ]
      : []),
    ...(files
      ? [withRoomAlone(desired, observed, origin.pool, needed, guarded(identify(copy)))]
      : []),
    finish(copy, '--setactivationskip', 'n'),
    ...makeRule(desired, nameKey(desired)),
    {
      ...change(desired, name, 'activate', '--activate', 'y', '--ignoreactivationskip'),
      preconditions: made.slice(0, 1),
    },
    ...(files ? [triggerUdev(lvName(desired, name))] : []),
    waitForLink(linkOf(desired)),
    ...withPreconditions(writeDone(uid, bytes), [...made, ...(files ? [hasUuid(desired)] : [])]),
  ];
}

/**
 * Records a finished volume whose record a crash prevented, if it has the expected content. Writes
 * nothing to the volume.
 */
export function planRecord(desired: DesiredLvm, own: LogicalVolume, device: DeviceFacts): Plan {
  const { signature } = device;
  const { mode, uid } = desired;
  if (mode === 'Filesystem' && !(signature.found === 'one' && signature.uuid === uid)) {
    const content = device.content || 'nothing';
    return refuse('CopyContentMissing', { path: lvPath(desired), uuid: uid, content });
  }
  return {
    steps: [...writeDone(uid, own.sizeBytes), ...makeLink(asRaw(desired), device, undefined)],
  };
}

/** Returns the origin of the thin snapshot, or why none can be taken. */
function originOf(
  desired: DesiredLvm,
  observed: ObservedLvm,
  group: VolumeGroup,
  source: ThinSource,
): LogicalVolume | Refusal {
  const from = {
    kind: source.what,
    volume: desired.name,
    source: lvName(source, source.name),
  };
  const [origin, other] = observed.volumes.filter((each) => isTagged(each, source.uid));
  if (source.vgName !== desired.vgName) {
    return refuse('ThinSourceInAnotherGroup', { ...from, group: desired.vgName });
  }
  if (origin === undefined) return refuse('ThinSourceMissing', from);
  if (other !== undefined) {
    const several = { first: origin.name, second: other.name };
    const { uid, vgName } = source;
    return refuse('ThinSourceTagOnSeveral', { ...from, ...several, uid, group: vgName });
  }
  if (origin.kind !== 'V' || origin.pool === undefined) {
    return refuse('ThinSourceNotThin', { ...from, type: origin.kind });
  }
  if (origin.pool !== desired.thinPool) {
    const pool = desired.thinPool ?? 'none';
    return refuse('ThinSourceInAnotherPool', { ...from, found: origin.pool, pool });
  }
  if (source.mode !== desired.mode) {
    return refuse('ThinSourceModeDiffers', { ...from, mode: desired.mode, found: source.mode });
  }
  const bytes = extentsFor(desired, group) * group.extentBytes;
  return bytes < origin.sizeBytes
    ? refuse('ThinSourceLarger', { ...from, bytes, needed: origin.sizeBytes })
    : origin;
}

const hasUuid = (desired: DesiredLvm): Precondition => ({
  argv: ownBlkid(lvPath(desired), 'value', 'UUID'),
  expect: { exit: 0, stdout: { is: desired.uid } },
  ...refuse('LogicalVolumeUUIDDiffers', { path: lvPath(desired), uuid: desired.uid }),
});

const withPreconditions = (
  [first, ...others]: readonly Step[],
  preconditions: readonly Precondition[],
): Step[] =>
  first === undefined
    ? []
    : [{ ...first, preconditions: [...preconditions, ...first.preconditions] }, ...others];

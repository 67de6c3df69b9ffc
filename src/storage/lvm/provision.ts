import { refuse } from '../../api/reasons.ts';
import { makeLink } from '../block/attach.ts';
import { planProvision as provisionRaw } from '../block/provision.ts';
import { linkOf } from '../links.ts';
import type { DesiredLvm, DeviceFacts, ObservedLvm, Plan } from '../types.ts';
import { noUdev } from '../udev.ts';
import { asRaw, rawOf } from './as-raw.ts';
import { planAttach } from './attach.ts';
import { FREE_EXTENTS } from './content.ts';
import { unfinishedIn } from './copy.ts';
import { create, isWritten, isZeroed } from './create.ts';
import { ensureActive } from './ensure-active.ts';
import type { LogicalVolume } from './facts.ts';
import { planFill } from './fill.ts';
import { groupOf, refuseChange } from './group.ts';
import { refresh } from './lvchange.ts';
import { lvName, lvPath } from './names.ts';
import { deviceOf, ownOf, refuseTags, whose } from './ownership.ts';
import { poolOf, wakePool } from './pool.ts';
import { begins, poolWanted, refuseCreate, refusePool } from './refuse.ts';
import { removeUnusable } from './remove-unusable.ts';
import { planRecord, planRestore } from './restore.ts';
import { withRoomAlone } from './room.ts';

/**
 * Returns the remaining steps until the logical volume has the wanted content, and is recorded as
 * done. Continues with an existing volume only if the node records that it was begun for this
 * Volume.
 */
export function planProvision(desired: DesiredLvm, observed: ObservedLvm): Plan {
  if (desired.recorded || observed.done) return planAttach(desired, observed);
  const { intent } = observed;
  const group = groupOf(desired, observed);
  // A disk may come late after the node has started.
  if ('refusal' in group) return { ...group, retryable: intent !== undefined };
  const path = lvPath(desired);
  if (intent !== undefined && intent.device?.path !== path) {
    const recorded = intent.device?.path ?? intent.file ?? 'none';
    return refuse('RecordOfAnotherPlace', { recorded, path });
  }
  const half = unfinishedIn(observed, desired.uid);
  const own = half === undefined ? ownOf(desired, observed.volumes) : undefined;
  if (desired.source !== undefined && own === undefined) {
    return refuseChange(group) ?? planRestore(desired, observed, group, desired.source);
  }
  if (half !== undefined && !isWritten(desired)) {
    return refuse('BegunAsCopy', { volume: lvName(desired, half.name) });
  }
  if (own === undefined) {
    if (!observed.udev) return noUdev(linkOf(desired));
    const pool = poolOf(observed, desired.thinPool);
    if (pool?.suspended && refuseChange(group) === undefined)
      return { steps: [refresh(desired, pool)] };
    const awake = refuseChange(group) === undefined ? wakePool(desired, observed) : [];
    if (awake.length > 0) return { steps: awake };
    if (isWritten(desired)) {
      return refuseChange(group) ?? planFill(desired, observed, group, half);
    }
    return refuseCreate(desired, observed, group) ?? { steps: create(desired, observed, group) };
  }
  const odd = refuseChange(group) ?? refuseOther(desired, observed, own);
  if (odd !== undefined) return odd;
  const written = desired.source !== undefined || own.origin !== undefined || isWritten(desired);
  const instead = written ? undefined : removeUnusable(desired, observed, own);
  const reached = ensureActive(desired, observed, own, instead);
  if (reached !== undefined) return reached;
  const device = deviceOf(observed, own);
  if (isZeroed(desired) && intent?.filling !== true) {
    return refuse('BegunWithoutZeros', { volume: lvName(desired, own.name) });
  }
  // A copy or a filled volume is only recorded, however it came about: nothing is made in it.
  if (written) {
    return device === undefined ? { steps: [] } : planRecord(desired, own, device);
  }
  const full =
    own.pool === undefined ? undefined : refusePool(desired, own.pool, observed, own.sizeBytes);
  if (full !== undefined) return full;
  const planned = provisionRaw(
    { ...asRaw(desired), ...consentTo(desired, device) },
    rawOf(observed),
  );
  if ('refusal' in planned || device === undefined) return withAnnotation(desired, planned);
  const needed = begins(desired, own.sizeBytes);
  const steps = planned.steps.map((step) =>
    step.argv[0]?.startsWith('mkfs.')
      ? withRoomAlone(desired, observed, own.pool, needed, step)
      : step,
  );
  return { steps: [...steps, ...makeLink(asRaw(desired), device, undefined)] };
}

/** Refuses an existing logical volume that was not begun for this Volume. */
function refuseOther(
  desired: DesiredLvm,
  observed: ObservedLvm,
  own: LogicalVolume,
): Plan | undefined {
  const volume = lvName(desired, own.name);
  if (whose(desired, observed, own) !== 'ours') {
    return refuse('LogicalVolumeExists', { volume, path: lvPath(desired) });
  }
  const doubtful = refuseTags(desired, observed, own);
  if (doubtful !== undefined) return doubtful;
  if (observed.intent === undefined) return refuse('LogicalVolumeUnrecorded', { volume });
  if (own.pool === desired.thinPool) return undefined;
  const found = own.pool === undefined ? 'not thin' : `in the thin pool ${own.pool}`;
  return refuse('BegunInAnotherPool', { volume, found, wanted: poolWanted(desired) });
}

/**
 * Returns consent to signatures in an unfinished volume: they come from its extents, if LVM was
 * killed before its check.
 */
const consentTo = (
  { overwrite }: DesiredLvm,
  device: DeviceFacts | undefined,
): { overwrite?: string } =>
  overwrite === FREE_EXTENTS && device !== undefined && device.content !== ''
    ? { overwrite: device.content }
    : {};

/** Explains in the refusal why MetalK8s's annotation is not sufficient. */
function withAnnotation(desired: DesiredLvm, planned: Plan): Plan {
  if (!('refusal' in planned) || desired.overwrite !== undefined || !desired.forced) return planned;
  const { refusal } = refuse('AnnotationIsNoConsent');
  return { ...planned, refusal: `${planned.refusal}. ${refusal}` };
}

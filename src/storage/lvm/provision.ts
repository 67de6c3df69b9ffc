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
import { begins, refuseCreate, refusePool } from './refuse.ts';
import { planRecord, planRestore } from './restore.ts';
import { withRoomAlone } from './room.ts';

/**
 * What remains to be done until there is a logical volume that carries what the Volume wants, and that is recorded as
 * done. What is there is only gone on with where the node records that it was begun for this Volume.
 */
export function planProvision(desired: DesiredLvm, observed: ObservedLvm): Plan {
  if (desired.recorded || observed.done) return planAttach(desired, observed);
  const { intent } = observed;
  const group = groupOf(desired, observed);
  // A disk may come late after the node has started.
  if ('refusal' in group) return { ...group, retryable: intent !== undefined };
  const path = lvPath(desired);
  if (intent !== undefined && intent.device?.path !== path) {
    return {
      refusal: `the node records for this Volume ${intent.device?.path ?? intent.file}, not ${path}`,
      hint: 'Delete this Volume and create it again.',
    };
  }
  const half = unfinishedIn(observed, desired.uid);
  const own = half === undefined ? ownOf(desired, observed.volumes) : undefined;
  if (desired.source !== undefined && own === undefined) {
    return refuseChange(group) ?? planRestore(desired, observed, group, desired.source);
  }
  if (half !== undefined && !isWritten(desired)) {
    return {
      refusal: `${lvName(desired, half.name)} was begun as a copy of another volume, and it is not known of which`,
      hint: 'Delete this Volume and create it again.',
    };
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
  const reached = ensureActive(desired, observed, own);
  if (reached !== undefined) return reached;
  const device = deviceOf(observed, own);
  if (isZeroed(desired) && intent?.filling !== true) {
    return {
      refusal: `the logical volume ${lvName(desired, own.name)} was begun by an earlier version, which wrote no zeros to it`,
      hint: 'Delete this Volume, or its claim, and create it again.',
    };
  }
  // Whatever made it what it is: nothing is made in a copy, or in what was filled.
  if (desired.source !== undefined || isWritten(desired) || own.origin !== undefined) {
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

/** Why a logical volume that is there is not the one that was begun for this Volume. */
function refuseOther(
  desired: DesiredLvm,
  observed: ObservedLvm,
  own: LogicalVolume,
): Plan | undefined {
  const name = lvName(desired, own.name);
  if (whose(desired, observed, own) !== 'ours') {
    return {
      refusal: `there is a logical volume ${name} already, and nothing says that it was made for this Volume`,
      hint: `Remove or rename it if it is not needed; name the Volume otherwise; or use it as a raw device: rawBlockDevice with devicePath ${lvPath(desired)}.`,
    };
  }
  const doubtful = refuseTags(desired, observed, own);
  if (doubtful !== undefined) return doubtful;
  if (observed.intent === undefined) {
    return {
      refusal: `the logical volume ${name} was made for this Volume, and nothing on the node says how far: it may hold data`,
      hint: `If it holds none, remove it: lvremove ${name}. The Volume is tried again when its spec changes or it is created anew.`,
    };
  }
  if (own.pool !== desired.thinPool) {
    return {
      refusal: `the logical volume ${name} is ${own.pool === undefined ? 'not thin' : `of the thin pool ${own.pool}`}, and the Volume asks for ${desired.thinPool === undefined ? 'one that is not' : `the pool ${desired.thinPool}`}`,
      hint: 'Delete this Volume and create it again.',
    };
  }
  return undefined;
}

/** What it carries before it was ever made to the end is of its extents, where LVM was killed before it looked. */
const consentTo = (
  { overwrite }: DesiredLvm,
  device: DeviceFacts | undefined,
): { overwrite?: string } =>
  overwrite === FREE_EXTENTS && device !== undefined && device.content !== ''
    ? { overwrite: device.content }
    : {};

/** Whoever set MetalK8s's annotation is told why it is not enough. */
function withAnnotation(desired: DesiredLvm, planned: Plan): Plan {
  if (!('refusal' in planned) || desired.overwrite !== undefined || !desired.forced) return planned;
  const { refusal } = refuse('AnnotationIsNoConsent');
  return { ...planned, refusal: `${planned.refusal}. ${refusal}` };
}

import { refuse } from '../../api/reasons.ts';
import { UNKNOWN_DATA } from '../blank.ts';
import { compareDevice } from '../device-identity.ts';
import { intentOf, writeDone, writeIntent } from '../records.ts';
import type { DesiredRaw, DeviceFacts, Intent, ObservedRaw, Plan } from '../types.ts';
import { hasUuid, isLeftOf } from './content.ts';
import { begin, make } from './make.ts';
import { halfTable, hasOwnTable, isOurs } from './ownership.ts';
import { ofAnother, refuseDevice } from './refuse.ts';
import { targetOf } from './target.ts';

/**
 * Plans the steps after which the device carries the Volume's content and is recorded as done. They
 * destroy other content only with a consent that names it, or if a record shows that an interrupted
 * attempt put it there.
 */
export function planProvision(desired: DesiredRaw, observed: ObservedRaw): Plan {
  const device = targetOf(desired, observed);
  const { intent } = observed;
  // A partition disappears and returns while the kernel reads its table, which also Stowage's own
  // writes to the disk cause.
  if ('refusal' in device) return { ...device, retryable: intent !== undefined };
  if (desired.recorded || observed.done) return checkMade(desired, observed, device);
  if (
    intent !== undefined &&
    (intent.device === undefined || compareDevice(intent.device, device) === 'different')
  ) {
    return refuse('RecordOfAnotherDevice', {
      recorded: intent.device?.path ?? intent.file ?? 'none',
      recordedIdentity: intent.device?.identity,
      path: desired.devicePath,
      device: `/dev/${device.name}`,
      identity: device.identity,
    });
  }
  const refusal = refuseDevice(desired, observed, device) ?? refuseContent(desired, device, intent);
  if (refusal !== undefined) return refusal;
  const wanted = intentFor(desired, device, intent);
  return {
    steps: [
      ...(JSON.stringify(intent) === JSON.stringify(wanted) ? [] : writeIntent(wanted)),
      ...begin(wanted, make(desired, device)),
      ...writeDone(desired.uid, device.sizeBytes),
    ],
  };
}

/** Checks the content of a provisioned device, and never makes it again. */
export function checkMade(desired: DesiredRaw, observed: ObservedRaw, device: DeviceFacts): Plan {
  const recorded = desired.identity ?? observed.intent?.device?.identity;
  const path = `/dev/${device.name}`;
  if (recorded !== undefined && compareDevice({ identity: recorded }, device) === 'different') {
    const { identity } = device;
    return refuse('DeviceExchanged', {
      path: desired.devicePath,
      device: path,
      identity,
      recorded,
    });
  }
  if (isOurs(desired, device)) {
    // Nothing on a logical volume in mode Block shows its owner. It may have become another
    // Volume's since the backup that this Volume was restored from.
    const unmarked =
      desired.mode === 'Block' && device.dmUuid !== undefined && !observed.recordFiles;
    const other = unmarked ? ofAnother(device, observed) : undefined;
    if (other === undefined) return { steps: [] };
    return refuse(other.isSure ? 'DeviceTaken' : 'DeviceMaybeOfAnother', other.of);
  }
  return refuse('MadeContentMissing', { device: path, content: device.content || 'nothing' });
}

/**
 * Refuses to destroy content. Consent applies to exactly the present content; leftovers of an
 * interrupted attempt need none.
 */
function refuseContent(
  desired: DesiredRaw,
  device: DeviceFacts,
  intent: Intent | undefined,
): Plan | undefined {
  const carried = carriedBy(device);
  const ours = intent !== undefined && canBeOurs(desired, device) && isOurs(desired, device);
  if (carried === '' || ours) return undefined;
  if (carried === desired.overwrite) return undefined;
  if (intent !== undefined && isInterrupted(desired, device, intent)) return undefined;
  const { overwrite } = desired;
  return refuse('DeviceCarriesData', {
    device: `/dev/${device.name}`,
    content: carried,
    consent: overwrite === undefined ? undefined : JSON.stringify(overwrite),
    overwrite: JSON.stringify(carried),
  });
}

/**
 * Reports whether Stowage may have written the content. It writes nothing into a partition or a
 * logical volume in mode Block.
 */
const canBeOurs = (desired: DesiredRaw, device: DeviceFacts): boolean =>
  desired.mode === 'Filesystem' || hasOwnTable(desired, device);

/** Returns all that a device carries, as a consent names it; '' for a blank one. */
const carriedBy = ({ content, isBlank }: DeviceFacts): string =>
  content === '' && isBlank === false ? UNKNOWN_DATA : content;

/**
 * Reports whether an interrupted attempt left the content: data on a device that was blank, half of
 * a table, or a part of what it destroyed. An attempt that a precondition ended began nothing, so
 * the content is not its own. Content without a UUID could be any disk's, and the disk must be
 * known.
 */
function isInterrupted(desired: DesiredRaw, device: DeviceFacts, intent: Intent): boolean {
  const isSame = compareDevice(intent.device ?? {}, device) === 'same';
  if (halfTable(desired, device) === 'ours' && isLeftOf(`gpt;1=${UNKNOWN_DATA}`, device.content))
    return true;
  if (intent.begun !== true) return false;
  if (device.content === '' && intent.signature === 'none' && canBeOurs(desired, device))
    return isSame;
  // 'none' in a record is no consent, even if a spec has it.
  if (intent.consent !== desired.overwrite || intent.consent === 'none') return false;
  const known = hasUuid(device.content) || isSame;
  return known && isLeftOf(intent.consent, device.content);
}

/**
 * Returns the intent. An existing record keeps what it has on the device before the first write.
 */
function intentFor(desired: DesiredRaw, device: DeviceFacts, before: Intent | undefined): Intent {
  const { identity, presence, dmUuid, partition } = device;
  const place = {
    path: desired.devicePath,
    identity,
    ...(dmUuid === undefined ? {} : { dmUuid }),
    ...(partition === undefined ? {} : { partuuid: before?.device?.partuuid ?? partition.uuid }),
  };
  const now = presence === undefined ? {} : { presence };
  const fresh = intentOf(
    desired,
    { device: { ...(before?.device ?? place), ...now } },
    device.sizeBytes,
  );
  const carried = carriedBy(device);
  const consent = carried !== '' && carried === desired.overwrite;
  if (!consent) {
    if (before === undefined) return fresh;
    // A failed first write may have left the device unchanged: another program may use it by the
    // next attempt.
    const isUntouched = carried === '' || carried === before.signature;
    const begun = before.begun === true && !isUntouched ? { begun: true } : {};
    return { ...fresh, signature: before.signature, consent: before.consent, ...begun };
  }
  return { ...fresh, signature: carried, consent: carried };
}

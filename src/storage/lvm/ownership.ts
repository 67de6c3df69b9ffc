import { type Refused, refuse } from '../../api/reasons.ts';
import { isOurs } from '../block/ownership.ts';
import type { DesiredLvm, DeviceFacts, ObservedLvm, Owner } from '../types.ts';
import { asRaw } from './as-raw.ts';
import type { LogicalVolume } from './facts.ts';
import { dmUuidOf, isTagged, lvName, tagOf, uidsIn } from './names.ts';

/** The UUID that device-mapper has for it, as it was recorded in the Volume's status. */
const recordedUuid = ({ identity }: Pick<DesiredLvm, 'identity'>): string | undefined =>
  /(?:^| )dm=(\S+)/.exec(identity ?? '')?.[1];

/**
 * The logical volume that is the Volume's, by its recorded UUID or its tag, whatever its name is by now; else the one that it
 * adopts; else the one of its name.
 */
export function ownOf(
  desired: Pick<DesiredLvm, 'uid' | 'name' | 'identity' | 'adopt'>,
  volumes: readonly LogicalVolume[],
): LogicalVolume | undefined {
  const recorded = recordedUuid(desired);
  return (
    volumes.find(({ uuid }) => recorded?.endsWith(uuid.replaceAll('-', ''))) ??
    volumes.find((each) => isTagged(each, desired.uid)) ??
    volumes.find((each) => desired.adopt !== undefined && isTagged(each, desired.adopt)) ??
    volumes.find(({ name }) => name === desired.name)
  );
}

/** Why a tag does not tell whose logical volume it is: whoever may change a group can copy one. */
export function refuseTags(
  desired: DesiredLvm,
  { volumes }: ObservedLvm,
  own: LogicalVolume,
): Refused | undefined {
  const { uid, vgName } = desired;
  const tagged = volumes.filter((each) => isTagged(each, uid));
  if (recordedUuid(desired) === undefined && tagged.length > 1) {
    const volumes = tagged.map(({ name }) => lvName(desired, name)).join(', ');
    return refuse('TagOnSeveral', { volumes, tag: tagOf(uid), group: vgName });
  }
  const other = uidsIn(own.tags).find((each) => each !== uid);
  return other === undefined || (recordedUuid(desired) === undefined && !isTagged(own, uid))
    ? undefined
    : refuse('TagOfAnother', { volume: lvName(desired, own.name), uid: other });
}

/**
 * Whose a logical volume is. `ours`: by its tag, or by its UUID, as it was recorded in the Volume's status. `named`: it
 * has but the name; nothing speaks against it.
 */
export function whose(
  desired: Pick<DesiredLvm, 'uid' | 'identity'>,
  { groups }: Pick<ObservedLvm, 'groups'>,
  own: LogicalVolume,
): 'ours' | 'named' | 'not ours' {
  const recorded = recordedUuid(desired);
  if (recorded !== undefined) {
    return recorded === dmUuidOf(groups[0]?.uuid ?? '', own.uuid) ? 'ours' : 'not ours';
  }
  if (isTagged(own, desired.uid)) return 'ours';
  return uidsIn(own.tags).length > 0 ? 'not ours' : 'named';
}

/**
 * Something beside its UUID says that it is the Volume's: the status that has it may be of a backup that was made before
 * the logical volume became another's. What MetalK8s made has neither tag nor records at first.
 */
export function isMarked(desired: DesiredLvm, observed: ObservedLvm, own: LogicalVolume): boolean {
  if (isTagged(own, desired.uid) || observed.recordFiles) return true;
  const device = deviceOf(observed, own);
  // What is not active must be looked into before its file system tells.
  if (desired.mode === 'Filesystem' && device !== undefined) return isOurs(asRaw(desired), device);
  return own.name === desired.name;
}

/** Another Volume that has it as its raw device, by what is on record. */
export function takenBy({ others, groups }: ObservedLvm, own: LogicalVolume): Owner | undefined {
  const dmUuid = dmUuidOf(groups[0]?.uuid ?? '', own.uuid);
  return others.find(
    ({ device }) =>
      device?.dmUuid === dmUuid || device?.identity?.split(' ').includes(`dm=${dmUuid}`),
  );
}

/** The device of the logical volume, where it is active and was looked at. */
export function deviceOf(observed: ObservedLvm, own: LogicalVolume): DeviceFacts | undefined {
  const { target, groups } = observed;
  if (target.is !== 'device') return undefined;
  return target.facts.dmUuid === dmUuidOf(groups[0]?.uuid ?? '', own.uuid)
    ? target.facts
    : undefined;
}

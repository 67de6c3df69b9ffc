import { type Refused, refuse } from '../../api/reasons.ts';
import { isOurs } from '../block/ownership.ts';
import type { DesiredLvm, DeviceFacts, ObservedLvm, Owner } from '../types.ts';
import { asRaw } from './as-raw.ts';
import type { LogicalVolume } from './facts.ts';
import { dmUuidOf, isTagged, lvName, tagOf, uidsIn } from './names.ts';

/** Returns the device-mapper UUID recorded in the Volume's status. */
const recordedUuid = ({ identity }: Pick<DesiredLvm, 'identity'>): string | undefined =>
  /(?:^| )dm=(\S+)/.exec(identity ?? '')?.[1];

/**
 * Returns the Volume's logical volume. Matches, in this order: the recorded UUID, the Volume's tag,
 * the adopted Volume's tag, the Volume's name.
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

/** Refuses tags that do not prove the owner: an administrator of the group can copy them. */
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
 * Determines the owner of a logical volume. `ours`: the UUID in the Volume's status matches, or the
 * Volume's tag is present. `named`: only the name matches, and no tag contradicts.
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
 * Reports whether more than the UUID marks the logical volume as the Volume's. A status restored
 * from a backup may be older than the volume's next owner. Volumes of MetalK8s have neither tag nor
 * records at first.
 */
export function isMarked(desired: DesiredLvm, observed: ObservedLvm, own: LogicalVolume): boolean {
  if (isTagged(own, desired.uid) || observed.recordFiles) return true;
  const device = deviceOf(observed, own);
  // The file system of an inactive volume cannot be read yet.
  if (desired.mode === 'Filesystem' && device !== undefined) return isOurs(asRaw(desired), device);
  return own.name === desired.name;
}

/** Returns another Volume whose record names the logical volume as its raw device. */
export function takenBy({ others, groups }: ObservedLvm, own: LogicalVolume): Owner | undefined {
  const dmUuid = dmUuidOf(groups[0]?.uuid ?? '', own.uuid);
  return others.find(
    ({ device }) =>
      device?.dmUuid === dmUuid || device?.identity?.split(' ').includes(`dm=${dmUuid}`),
  );
}

/** Returns the device of the logical volume, if it is active and was observed. */
export function deviceOf(observed: ObservedLvm, own: LogicalVolume): DeviceFacts | undefined {
  const { target, groups } = observed;
  if (target.is !== 'device') return undefined;
  return target.facts.dmUuid === dmUuidOf(groups[0]?.uuid ?? '', own.uuid)
    ? target.facts
    : undefined;
}

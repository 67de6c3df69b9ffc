import type { DesiredLvm, DeviceFacts, ObservedLvm } from '../types.ts';
import type { LogicalVolume } from './facts.ts';
import { dmUuidOf, isTagged, uidsIn } from './names.ts';

/** The logical volume that is the Volume's, by its tag, whatever its name is by now; else the one of its name. */
export function ownOf(
  { uid, name }: Pick<DesiredLvm, 'uid' | 'name'>,
  volumes: readonly LogicalVolume[],
): LogicalVolume | undefined {
  return volumes.find((each) => isTagged(each, uid)) ?? volumes.find((each) => each.name === name);
}

/**
 * Whose a logical volume is. `ours`: by its tag, or by its UUID, as it was recorded in the Volume's status. `named`: it
 * has but the name; nothing speaks against it.
 */
export function whose(
  { uid, identity }: DesiredLvm,
  { groups }: ObservedLvm,
  own: LogicalVolume,
): 'ours' | 'named' | 'not ours' {
  const recorded = /(?:^| )dm=(\S+)/.exec(identity ?? '')?.[1];
  if (recorded !== undefined) {
    return recorded === dmUuidOf(groups[0]?.uuid ?? '', own.uuid) ? 'ours' : 'not ours';
  }
  if (isTagged(own, uid)) return 'ours';
  return uidsIn(own.tags).length > 0 ? 'not ours' : 'named';
}

/** The device of the logical volume, where it is active and was looked at. */
export function deviceOf(observed: ObservedLvm, own: LogicalVolume): DeviceFacts | undefined {
  const { target, groups } = observed;
  if (target.is !== 'device') return undefined;
  return target.facts.dmUuid === dmUuidOf(groups[0]?.uuid ?? '', own.uuid) ? target.facts : undefined;
}

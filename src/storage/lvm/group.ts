import { type Refused, refuse } from '../../api/reasons.ts';
import type { DesiredLvm, ObservedLvm, Refusal } from '../types.ts';
import type { VolumeGroup } from './facts.ts';

/**
 * Returns the UUID, without hyphens, of the Volume's group, as its status or its node records it.
 */
export const recordedGroup = (
  { identity }: Pick<DesiredLvm, 'identity'>,
  intent: ObservedLvm['intent'],
): string | undefined =>
  /(?:^| )dm=LVM-(.{32})/.exec(identity ?? '')?.[1] ??
  /^vg=(\S+)/.exec(intent?.device?.identity ?? '')?.[1]?.replaceAll('-', '');

const hasUuid = (group: Pick<VolumeGroup, 'uuid'>, uuid: string | undefined): boolean =>
  group.uuid.replaceAll('-', '') === uuid;

/** Sorts groups with the same name, the recorded one first: callers use the first group. */
export const recordedFirst = (
  groups: readonly VolumeGroup[],
  recorded: string | undefined,
): readonly VolumeGroup[] =>
  groups.toSorted((a, b) => Number(hasUuid(b, recorded)) - Number(hasUuid(a, recorded)));

/** Returns the recorded group, else the only group with the name; undefined if neither exists. */
export const knownGroup = (
  groups: readonly VolumeGroup[],
  recorded: string | undefined,
): VolumeGroup | undefined => {
  const [group, other] = recordedFirst(groups, recorded);
  return group !== undefined && (other === undefined || hasUuid(group, recorded))
    ? group
    : undefined;
};

/** Refuses a group name that two groups of the node have. */
export function twoGroups(group: string, groups: readonly VolumeGroup[]): Refused {
  const uuids = groups.map(({ uuid }) => uuid);
  const uuid = uuids.at(-1) ?? '';
  return refuse('VolumeGroupsOfOneName', { group, uuids: uuids.join(' and '), uuid });
}

/** Returns the Volume's group, or why it cannot be determined. */
export function groupOf(
  { vgName, identity }: Pick<DesiredLvm, 'vgName' | 'identity'>,
  { groups, intent }: Pick<ObservedLvm, 'groups' | 'intent'>,
): VolumeGroup | Refusal {
  const recorded = recordedGroup({ identity }, intent);
  const [group] = recordedFirst(groups, recorded);
  if (group === undefined) return refuse('VolumeGroupMissing', { group: vgName });
  if (recorded !== undefined && !hasUuid(group, recorded)) {
    return refuse('VolumeGroupExchanged', { group: vgName, uuid: group.uuid, recorded });
  }
  return knownGroup(groups, recorded) ?? twoGroups(vgName, groups);
}

/** Returns why the group must not be changed; undefined if it may be. */
export function refuseChange({
  name: group,
  readOnly,
  exported,
  partial,
  shared,
}: VolumeGroup): Refusal | undefined {
  if (exported) return refuse('VolumeGroupExported', { group });
  if (shared) return refuse('VolumeGroupShared', { group });
  // Its disk may come late after the node has started.
  if (partial) return { ...refuse('VolumeGroupPartial', { group }), retryable: true };
  return readOnly ? refuse('VolumeGroupReadOnly', { group }) : undefined;
}

/** Returns the number of extents for the requested size. */
export const extentsFor = ({ sizeBytes }: DesiredLvm, { extentBytes }: VolumeGroup): bigint =>
  (sizeBytes + extentBytes - 1n) / extentBytes;

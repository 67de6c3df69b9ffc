import { type Refused, refuse } from '../../api/reasons.ts';
import type { DesiredLvm, ObservedLvm, Refusal } from '../types.ts';
import type { VolumeGroup } from './facts.ts';

/** The UUID, without hyphens, of the group that the Volume was made in or begun in, as its status or its node records it. */
export const recordedGroup = (
  { identity }: Pick<DesiredLvm, 'identity'>,
  intent: ObservedLvm['intent'],
): string | undefined =>
  /(?:^| )dm=LVM-(.{32})/.exec(identity ?? '')?.[1] ??
  /^vg=(\S+)/.exec(intent?.device?.identity ?? '')?.[1]?.replaceAll('-', '');

const hasUuid = (group: Pick<VolumeGroup, 'uuid'>, uuid: string | undefined): boolean =>
  group.uuid.replaceAll('-', '') === uuid;

/** The groups of a name, the one on record before others: all that is asked of a group is asked of the first. */
export const recordedFirst = (
  groups: readonly VolumeGroup[],
  recorded: string | undefined,
): readonly VolumeGroup[] =>
  groups.toSorted((a, b) => Number(hasUuid(b, recorded)) - Number(hasUuid(a, recorded)));

/** The group that the name stands for: the one on record, else the only one. Undefined where that is open. */
export const knownGroup = (
  groups: readonly VolumeGroup[],
  recorded: string | undefined,
): VolumeGroup | undefined => {
  const [group, other] = recordedFirst(groups, recorded);
  return group !== undefined && (other === undefined || hasUuid(group, recorded))
    ? group
    : undefined;
};

/** Why two groups of the node's own cannot be told apart by their name. */
export function twoGroups(group: string, groups: readonly VolumeGroup[]): Refused {
  const uuids = groups.map(({ uuid }) => uuid);
  const uuid = uuids.at(-1) ?? '';
  return refuse('VolumeGroupsOfOneName', { group, uuids: uuids.join(' and '), uuid });
}

/** The group of the Volume, or why nothing is to be concluded from what there is. */
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

/** Why the group must not be changed; undefined when it may be. */
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

/** How many extents hold what was asked for. */
export const extentsFor = ({ sizeBytes }: DesiredLvm, { extentBytes }: VolumeGroup): bigint =>
  (sizeBytes + extentBytes - 1n) / extentBytes;

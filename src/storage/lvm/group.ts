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
export const twoGroups = (name: string, groups: readonly VolumeGroup[]): Refusal => ({
  refusal: `the node has several volume groups ${name}: ${groups.map(({ uuid }) => uuid).join(' and ')}`,
  hint: `Rename the one that is not meant, by its UUID: vgrename ${groups.at(-1)?.uuid} ${name}-2.`,
});

/** The group of the Volume, or why nothing is to be concluded from what there is. */
export function groupOf(
  { vgName, identity }: Pick<DesiredLvm, 'vgName' | 'identity'>,
  { groups, intent }: Pick<ObservedLvm, 'groups' | 'intent'>,
): VolumeGroup | Refusal {
  const recorded = recordedGroup({ identity }, intent);
  const [group] = recordedFirst(groups, recorded);
  if (group === undefined) {
    return {
      refusal: `there is no volume group ${vgName} on the node`,
      hint: `Bring its disks back, or create it: vgs lists those that LVM sees. It leaves out those of other hosts, and of disks that its devices file does not name; one on a device of a Volume does not count. After a power cut its metadata may be damaged: vgcfgrestore --list ${vgName} names what to restore them from. Nothing is made elsewhere.`,
    };
  }
  if (recorded !== undefined && !hasUuid(group, recorded)) {
    return {
      refusal: `the volume group ${vgName} (${group.uuid}) is not the one that this Volume was made in, which has the UUID ${recorded}`,
      hint: 'Bring the earlier volume group back, or delete this Volume and create it again.',
    };
  }
  return knownGroup(groups, recorded) ?? twoGroups(vgName, groups);
}

/** Why the group must not be changed; undefined when it may be. */
export function refuseChange({
  name,
  readOnly,
  exported,
  partial,
  shared,
}: VolumeGroup): Refusal | undefined {
  if (exported) {
    return {
      refusal: `the volume group ${name} is exported`,
      hint: `Take it into use: vgimport ${name}.`,
    };
  }
  if (shared) {
    return {
      refusal: `the volume group ${name} is clustered or shared with other hosts`,
      hint: 'Use a volume group of the node alone.',
    };
  }
  if (partial) {
    return {
      refusal: `a physical volume of the volume group ${name} is away`,
      hint: 'Bring its disk back: pvs tells which one. Nothing of the group is changed until then.',
      // It may come late after the node has started.
      retryable: true,
    };
  }
  return readOnly
    ? {
        refusal: `the volume group ${name} is read-only`,
        hint: `Allow changes: vgchange -prw ${name}.`,
      }
    : undefined;
}

/** How many extents hold what was asked for. */
export const extentsFor = ({ sizeBytes }: DesiredLvm, { extentBytes }: VolumeGroup): bigint =>
  (sizeBytes + extentBytes - 1n) / extentBytes;

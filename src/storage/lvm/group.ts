import type { DesiredLvm, ObservedLvm } from '../types.ts';
import type { VolumeGroup } from './facts.ts';

type Refusal = { refusal: string; hint: string; passing?: boolean };

/** The one group of the name, or why nothing is to be concluded from what there is. */
export function groupOf(
  { vgName, identity }: Pick<DesiredLvm, 'vgName' | 'identity'>,
  { groups, intent }: Pick<ObservedLvm, 'groups' | 'intent'>,
): VolumeGroup | Refusal {
  const [group, other] = groups;
  if (group === undefined) {
    return {
      refusal: `there is no volume group ${vgName} on the node`,
      hint: 'Bring its disks back, or create it: vgs lists those that LVM sees. It leaves out those of other hosts, and of disks that its devices file does not name. Nothing is made elsewhere.',
    };
  }
  if (other !== undefined) {
    return {
      refusal: `the node has two volume groups ${vgName}: ${group.uuid} and ${other.uuid}`,
      hint: 'Rename one of them by its UUID: vgrename.',
    };
  }
  const recorded =
    /(?:^| )dm=LVM-(.{32})/.exec(identity ?? '')?.[1] ??
    /^vg=(\S+)/.exec(intent?.device?.identity ?? '')?.[1]?.replaceAll('-', '');
  if (recorded !== undefined && recorded !== group.uuid.replaceAll('-', '')) {
    return {
      refusal: `the volume group ${vgName} (${group.uuid}) is not the one that this Volume was made in, which has the UUID ${recorded}`,
      hint: 'Bring the earlier volume group back, or delete this Volume and create it again.',
    };
  }
  return group;
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
    return { refusal: `the volume group ${name} is exported`, hint: `Take it into use: vgimport ${name}.` };
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
      passing: true,
    };
  }
  return readOnly
    ? { refusal: `the volume group ${name} is read-only`, hint: `Allow changes: vgchange -prw ${name}.` }
    : undefined;
}

/** How many extents hold what was asked for. */
export const extentsFor = ({ sizeBytes }: DesiredLvm, { extentBytes }: VolumeGroup): bigint =>
  (sizeBytes + extentBytes - 1n) / extentBytes;

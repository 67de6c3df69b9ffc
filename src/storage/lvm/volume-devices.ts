import { diskOf } from '../block/device-probes.ts';
import { compareBytes, haveCommonIdentifier, identityText } from '../device-identity.ts';
import type { BlockDevice, Intent, LoopFacts } from '../types.ts';

/**
 * Determines which devices of a node belong to Volumes, so that their content is not the node's.
 */

const VOLUME_FILE = /\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.partial)?( \(deleted\))?$/;

/**
 * Reports whether a loop device belongs to a Volume: its backing file is a Volume's, or a device,
 * as for the kubelet's loops of mode Block.
 */
export const isOfVolume = ({ backingFile }: LoopFacts, kubeletRoot: string): boolean =>
  backingFile === '' ||
  backingFile.startsWith('/dev/') ||
  backingFile.startsWith(`${kubeletRoot}/`) ||
  VOLUME_FILE.test(backingFile);

const isLogical = ({ device }: Intent): boolean => device?.identity.startsWith('vg=') ?? false;

/**
 * Returns paths of recorded devices that have no other identifier after a reboot: logical volumes
 * without a file system, and device-mapper devices. Disks are identified by their own identity,
 * since their path may be another disk's by now.
 */
export const pathsOf = (intents: readonly Intent[]): string[] =>
  intents.flatMap((intent) => {
    const { device, fsType } = intent;
    if (device === undefined || /^\/dev\/[^/]+$/.test(device.path)) return [];
    const isNamed = isLogical(intent) ? fsType === '' : /(?:^| )dm=/.test(device.identity);
    return isNamed ? [device.path] : [];
  });

/**
 * Returns the kernel names of recorded disks, their partitions, and their multipath maps. A match
 * by serial number alone must be unique: a disk hidden by mistake hides the node's own group.
 */
export function disksOf(devices: readonly BlockDevice[], intents: readonly Intent[]): string[] {
  const rows = devices.flatMap((row) => {
    const disk = diskOf(row, devices);
    if (disk.type !== 'disk') return [];
    const isWhole = row.type !== 'part';
    const partition = isWhole ? undefined : { number: numberOf(row, disk), guid: undefined };
    const identity = identityText({ disk, dmUuid: undefined, partition, sizeBytes: row.sizeBytes });
    const map = devices.find(({ type, parent }) => type === 'mpath' && parent === disk.name);
    // All paths of a multipath map are one disk.
    return [{ name: row.name, disk: (map ?? disk).name, isWhole, identity }];
  });
  return intents.flatMap((intent) => {
    const { device } = intent;
    if (device === undefined || isLogical(intent)) return [];
    const isPart = /(?:^| )partition=/.test(device.identity);
    // The other partitions of a recorded partition's disk are not the Volume's.
    const like = rows.filter(
      (row) =>
        !(isPart && row.isWhole) &&
        compareBytes(device, row) !== 'different' &&
        haveCommonIdentifier(device, row),
    );
    const same = like.filter((row) => compareBytes(device, row) === 'same');
    const isOne = new Set(like.map(({ disk }) => disk)).size === 1;
    return (same.length > 0 ? same : isOne ? like : []).map(({ name }) => name);
  });
}

/**
 * Returns a partition's number, or 0. For a partition of a map, kpartx puts the number into
 * device-mapper's UUID, as in `part1-`.
 */
function numberOf({ name, mapper }: BlockDevice, disk: BlockDevice): number {
  const text = name.startsWith('dm-')
    ? /^part(\d+)-/.exec(mapper?.uuid ?? '')
    : /(\d+)$/.exec(name.slice(disk.name.length));
  return Number(text?.[1] ?? 0);
}

/**
 * Returns the names of partitions and RAID devices that the kernel or udev made from a device's
 * content. The device is a Volume's loop device or disk, or a logical volume.
 * @param disks names of Volumes' disks
 */
export function madeOf(
  devices: readonly BlockDevice[],
  ownLoops: readonly string[],
  disks: readonly string[],
): string[] {
  const types = new Map(devices.map(({ name, type }) => [name, type]));
  const parents = new Map<string, string[]>();
  for (const { name, parent } of devices) {
    if (parent !== undefined) parents.set(name, [...(parents.get(name) ?? []), parent]);
  }
  const isOwn = (loop: string) =>
    ownLoops.some((own) => loop === own || loop.startsWith(`${own}p`));
  const isOnVolume = (name: string, above: readonly string[]): boolean =>
    (parents.get(name) ?? []).some(
      (parent) =>
        !above.includes(parent) &&
        (types.get(parent) === 'lvm' ||
          disks.includes(parent) ||
          (parent.startsWith('loop') && !isOwn(parent)) ||
          isOnVolume(parent, [...above, parent])),
    );
  const isMade = ({ name, type }: BlockDevice) =>
    !name.startsWith('loop') && (type === 'part' || /^(raid|linear|md)/.test(type));
  return [
    ...new Set(
      devices.filter((each) => isMade(each) && isOnVolume(each.name, [])).map(({ name }) => name),
    ),
  ];
}

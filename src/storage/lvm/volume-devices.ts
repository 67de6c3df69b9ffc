import { diskOf } from '../block/device-probes.ts';
import { compareBytes, haveCommonIdentifier, identityText } from '../device-identity.ts';
import type { BlockDevice, Intent, LoopFacts } from '../types.ts';

/** Which devices of a node are of Volumes, so that what is in them is not the node's. */

const VOLUME_FILE = /\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.partial)?( \(deleted\))?$/;

/** Returns whether a loop device is of a Volume's file, or of a device, as the kubelet makes those for volumes of mode Block. */
export const isOfVolume = ({ backingFile }: LoopFacts, kubeletRoot: string): boolean =>
  backingFile === '' ||
  backingFile.startsWith('/dev/') ||
  backingFile.startsWith(`${kubeletRoot}/`) ||
  VOLUME_FILE.test(backingFile);

const isLogical = ({ device }: Intent): boolean => device?.identity.startsWith('vg=') ?? false;

/**
 * Returns the paths by which records name devices that have no others by another boot: logical volumes without a file system,
 * and what device-mapper makes. A disk is found by what it tells of itself, for its path may be another one's by now.
 */
export const pathsOf = (intents: readonly Intent[]): string[] =>
  intents.flatMap((intent) => {
    const { device, fsType } = intent;
    if (device === undefined || /^\/dev\/[^/]+$/.test(device.path)) return [];
    const isNamed = isLogical(intent) ? fsType === '' : /(?:^| )dm=/.test(device.identity);
    return isNamed ? [device.path] : [];
  });

/**
 * Returns the kernel's names of disks on record, of their partitions, and of the maps that multipathd made of them. Where nothing but the serial number agrees, it has to
 * be the only disk that has it: what is hidden by mistake would be the node's own group.
 */
export function disksOf(devices: readonly BlockDevice[], intents: readonly Intent[]): string[] {
  const rows = devices.flatMap((row) => {
    const disk = diskOf(row, devices);
    if (disk.type !== 'disk') return [];
    const isWhole = row.type !== 'part';
    const partition = isWhole ? undefined : { number: numberOf(row, disk), guid: undefined };
    const identity = identityText({ disk, dmUuid: undefined, partition, sizeBytes: row.sizeBytes });
    const map = devices.find(({ type, parent }) => type === 'mpath' && parent === disk.name);
    // Paths of one map are one disk.
    return [{ name: row.name, disk: (map ?? disk).name, isWhole, identity }];
  });
  return intents.flatMap((intent) => {
    const { device } = intent;
    if (device === undefined || isLogical(intent)) return [];
    const isPart = /(?:^| )partition=/.test(device.identity);
    // The other partitions of such a disk are somebody else's.
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

/** kpartx numbers those of a map otherwise: device-mapper's UUID of one begins with `part1-`. No partition is 0. */
function numberOf({ name, mapper }: BlockDevice, disk: BlockDevice): number {
  const text = name.startsWith('dm-')
    ? /^part(\d+)-/.exec(mapper?.uuid ?? '')
    : /(\d+)$/.exec(name.slice(disk.name.length));
  return Number(text?.[1] ?? 0);
}

/**
 * Returns the names of what the kernel or udev made, by itself, of what is in a Volume's loop device, in its disk or in a logical
 * volume: partitions and RAID.
 * @param disks names of disks of Volumes
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

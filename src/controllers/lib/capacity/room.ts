import type { Volume } from '../../../api/volume.ts';
import type { StorageLocation } from '../../../model/dynamic-class.ts';
import { SPARSE_FOLDER } from '../../../storage/loopfile/file.ts';
import { downloadBytes } from '../../../storage/populate/download.ts';
import { sizeOf } from '../../../storage/registry.ts';
import type { FolderRoom, GroupRoom } from '../../../storage/room.ts';

/** A copy of a Volume that is kept on a node, or for which a job is named: a snapshot. */
export interface KeptCopy {
  /** The UID of its VolumeSnapshotContent. */
  uid: string;
  /** The directory of the volume's file, or `VG/POOL`. */
  place: string;
  /** The logical volume, in a pool. */
  lvName?: string;
  sizeBytes: bigint;
}

/**
 * Room for a new sparse file, in bytes: what the file system has, less what others use, less what stays free,
 * and less the nominal sizes of all that is ours there. What is ours was promised whole, however little of it
 * is used yet.
 *
 * What a copy or a volume made from one takes counts as used by others, and its nominal size besides: it may share
 * blocks, and how many is not known. That promises too little, never too much.
 */
export function folderRoom(
  facts: FolderRoom,
  volumes: readonly Volume[],
  copies: readonly KeptCopy[],
  overcommit: number,
): bigint {
  const there = volumes.filter((volume) => facts.beside.has(folderOf(volume) ?? ''));
  const nominal = sum([
    ...there.map((volume) => sizeOf(volume.spec) + besides(volume)),
    ...copies.filter(({ place }) => facts.beside.has(place)).map(({ sizeBytes }) => sizeBytes),
  ]);
  const own = sum(
    there
      .filter(({ spec }) => spec.source === undefined)
      .map((volume) => {
        const file = `${folderOf(volume)}/${volume.metadata.uid}`;
        return (facts.allocated.get(file) ?? 0n) + (facts.allocated.get(`${file}.partial`) ?? 0n);
      }),
  );
  return times(facts.freeBytes + own - facts.floorBytes, overcommit) - nominal;
}

/**
 * Room for a new logical volume, in bytes. Volumes and snapshots that are promised and not made yet, or not
 * grown yet, are not in LVM's sums.
 */
export function groupRoom(
  facts: GroupRoom,
  { vgName, thinPool }: { vgName: string; thinPool: string | undefined },
  volumes: readonly Volume[],
  copies: readonly KeptCopy[],
  overcommit: number,
): bigint {
  const there = [
    ...volumes
      .filter(
        ({ spec }) =>
          spec.lvmLogicalVolume?.vgName === vgName && spec.lvmLogicalVolume.thinPool === thinPool,
      )
      .map((volume) => ({ lvName: volume.metadata.name, sizeBytes: sizeOf(volume.spec) })),
    ...copies.filter(({ place }) => place === `${vgName}/${thinPool}`),
  ];
  const promised = there
    .map(({ lvName = '', sizeBytes }) => sizeBytes - (facts.made.get(lvName) ?? 0n))
    .filter((bytes) => bytes > 0n);
  return times(facts.sizeBytes, overcommit) - facts.promisedBytes - sum(promised);
}

/** Where the file of a Volume is or will be; undefined for one that has none. */
export function folderOf({ spec, status }: Volume): string | undefined {
  if (spec.sparseLoopDevice == null) return undefined;
  const made = status?.prepared?.paths[0];
  return made === undefined
    ? (spec.sparseLoopDevice.directory ?? SPARSE_FOLDER)
    : made.slice(0, made.lastIndexOf('/'));
}

/** Returns the place in which a copy of a Volume takes room; undefined for a raw device. */
export function placeOfCopy(volume: Volume): StorageLocation | undefined {
  const { sparseLoopDevice, lvmLogicalVolume } = volume.spec;
  const directory = folderOf(volume);
  if (directory !== undefined) {
    return {
      type: 'sparse',
      directory,
      ...(sparseLoopDevice?.requireMount && { requireMount: true }),
    };
  }
  if (lvmLogicalVolume == null) return undefined;
  return {
    type: 'lvm',
    vgName: lvmLogicalVolume.vgName,
    thinPool: lvmLogicalVolume.thinPool ?? undefined,
  };
}

const sum = (sizes: readonly bigint[]): bigint => sizes.reduce((all, size) => all + size, 0n);

/** Download of a Volume in a file that is to be filled, or is being filled. Bytes. */
const besides = (volume: Volume): bigint =>
  volume.status?.prepared == null
    ? downloadBytes(volume.spec.source?.populator?.options.format, sizeOf(volume.spec))
    : 0n;

/** In hundredths, which is what a parameter is written in. */
const times = (bytes: bigint, factor: number): bigint =>
  (bytes * BigInt(Math.round(factor * 100))) / 100n;

import type { Volume } from '../../../api/volume.ts';
import type { StorageLocation } from '../../../model/dynamic-class.ts';
import { SPARSE_DIRECTORY } from '../../../storage/loopfile/file.ts';
import { downloadBytes } from '../../../storage/populate/download.ts';
import { sizeOf } from '../../../storage/registry.ts';
import { allocatedTo, type DirectoryRoom, type GroupRoom } from '../../../storage/room.ts';

/** A snapshot on a node, or one for which a job is named. */
export interface KeptCopy {
  /** UID of its VolumeSnapshotContent. */
  uid: string;
  /** Directory of the volume's file, or `VG/POOL`. */
  place: string;
  /** Name of the logical volume, in a thin pool. */
  lvName?: string;
  sizeBytes: bigint;
}

/**
 * Returns the space for a new sparse file, in bytes. Takes free and own space of the file system,
 * less the floor, less the nominal sizes of all own files there. Own files are promised their full
 * size, however little they use.
 *
 * A copy, or a volume made from one, counts with its usage and its nominal size, since an unknown
 * number of blocks is shared. The sum may be too small, never too large.
 */
export function directoryRoom(
  facts: DirectoryRoom,
  volumes: readonly Volume[],
  copies: readonly KeptCopy[],
  overcommit: number,
): bigint {
  const there = volumes.filter((volume) => facts.beside.has(directoryOf(volume) ?? ''));
  const nominal = sum([
    ...there.map((volume) => sizeOf(volume.spec) + besides(volume)),
    ...copies.filter(({ place }) => facts.beside.has(place)).map(({ sizeBytes }) => sizeBytes),
  ]);
  const own = sum(
    there
      .filter(({ spec }) => spec.source === undefined)
      .map((volume) => allocatedTo(facts, `${directoryOf(volume)}/${volume.metadata.uid}`) ?? 0n),
  );
  return times(facts.freeBytes + own - facts.floorBytes, overcommit) - nominal;
}

/**
 * Returns the space for a new logical volume, in bytes. Volumes and snapshots that are promised but
 * not created or expanded yet are not in LVM's sums.
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

/** Returns the directory of a Volume's present or future file; undefined for other types. */
export function directoryOf({ spec, status }: Volume): string | undefined {
  if (spec.sparseLoopDevice == null) return undefined;
  const made = status?.prepared?.paths[0];
  return made === undefined
    ? (spec.sparseLoopDevice.directory ?? SPARSE_DIRECTORY)
    : made.slice(0, made.lastIndexOf('/'));
}

/** Returns the place in which a copy of a Volume takes space; undefined for a raw device. */
export function placeOfCopy(volume: Volume): StorageLocation | undefined {
  const { sparseLoopDevice, lvmLogicalVolume } = volume.spec;
  const directory = directoryOf(volume);
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

/** Returns the bytes of the download for a Volume that is not populated yet. */
const besides = (volume: Volume): bigint =>
  volume.status?.prepared == null
    ? downloadBytes(volume.spec.source?.populator?.options.format, sizeOf(volume.spec))
    : 0n;

/** Multiplies in hundredths, the precision of the parameter. */
const times = (bytes: bigint, factor: number): bigint =>
  (bytes * BigInt(Math.round(factor * 100))) / 100n;

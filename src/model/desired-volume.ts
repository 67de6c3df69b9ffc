import { DRIVER, PROVISIONED_BY_ANNOTATION } from '../api/names.ts';
import type { Volume } from '../api/volume.ts';
import { earlierLink } from '../storage/links.ts';
import type { Fill } from '../storage/populate/types.ts';
import { type Desired, driverOfSpec, driversOf, sizeOf } from '../storage/registry.ts';
import type { Source as FileSource, ThinSource } from '../storage/types.ts';
import type { ClassOptions } from './class-options.ts';

/** File systems are made of blocks; a file is made at least as long as was asked, in whole ones. */
const BLOCK = 4096n;

/** The node that the Volume was made on, else where it is to be. */
export function nodeOf(volume: Volume): string {
  return volume.status?.prepared?.node ?? volume.spec.nodeName;
}

/**
 * The fate of the data: where the Volume does not say, as its kind of storage has it. Without a kind it is not known whether
 * it was made for the Volume or lent to it, and it is kept.
 */
export function onDeleteOf({ spec }: Volume): Desired['onDelete'] {
  const [driver] = spec.adopt == null ? driversOf(spec) : [];
  return spec.onDelete ?? driver?.onDelete ?? 'Retain';
}

/**
 * What storage is to do for a Volume. Without options of a class (it may be gone) nothing can be made.
 * @param node the node that the work runs on, where its directory is shared
 * @param source what it is made from, while it is made
 */
export function desiredOf(
  volume: Volume,
  options: ClassOptions | undefined,
  node: string = nodeOf(volume),
  source?: VolumeSource,
): Desired {
  const { spec, status, metadata } = volume;
  const prepared = status?.prepared;
  const common = {
    uid: metadata.uid ?? '',
    name: metadata.name,
    mode: spec.mode ?? 'Filesystem',
    ...earlierLink(status?.devicePath, {
      uid: metadata.uid ?? '',
      mode: spec.mode ?? 'Filesystem',
    }),
    fs: options?.fs,
    recorded: prepared !== undefined,
    onDelete: onDeleteOf(volume),
    kubeletRoot: '/var/lib/kubelet',
    ...(source !== undefined && 'fill' in source ? { fill: source.fill } : {}),
    ...(spec.adopt == null ? {} : { adopt: spec.adopt.uid }),
  } as const;
  return driverOfSpec(spec).desired({
    volume,
    common,
    node,
    // Where it was made, which the spec need not name any more.
    path: prepared?.paths[0],
    sizeBytes: wholeBlocks(sizeOf(spec)),
    from: source !== undefined && 'from' in source ? source.from : undefined,
    isForClaim: isForClaim(volume),
  });
}

const wholeBlocks = (bytes: bigint): bigint =>
  bytes <= 0n ? 0n : ((bytes + BLOCK - 1n) / BLOCK) * BLOCK;

/** Such a name has the UID of the claim: there is one volume of it in all time. */
const isForClaim = ({ metadata, spec }: Volume): boolean =>
  /^pvc-[0-9a-f-]{36}$/.test(metadata.name) &&
  spec.template?.metadata?.annotations?.[PROVISIONED_BY_ANNOTATION] === DRIVER;
/** Where the data is that a Volume starts from; or why it can't be made from that now. */

export type VolumeSource = { from: FileSource | ThinSource } | { fill: Fill } | { problem: string };

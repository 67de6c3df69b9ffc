import { DRIVER, PROVISIONED_BY_ANNOTATION } from '../api/names.ts';
import type { Volume } from '../api/volume.ts';
import { earlierLink } from '../storage/links.ts';
import type { Fill } from '../storage/populate/types.ts';
import { type Desired, driverOfSpec, driversOf, sizeOf } from '../storage/registry.ts';
import type { Source as FileSource, ThinSource } from '../storage/types.ts';
import type { ClassOptions } from './class-options.ts';
import { nodeOf } from './volume-nodes.ts';

/** Block size of file systems. A file's requested size is rounded up to whole blocks. */
const BLOCK = 4096n;

/**
 * Returns the fate of the data: as in the spec, else the default of its kind of storage. Adopted
 * storage, or storage of an unknown kind, is retained: it may not have been created for the Volume.
 */
export function onDeleteOf({ spec }: Volume): Desired['onDelete'] {
  const [driver] = spec.adopt == null ? driversOf(spec) : [];
  return spec.onDelete ?? driver?.onDelete ?? 'Retain';
}

/**
 * Returns the desired storage of a Volume. Without options of a class, which may be gone, nothing
 * can be provisioned.
 * @param node node of the work, where nodes share the directory
 * @param source source of the data, while the volume is provisioned
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
    // The path of the provisioned storage, which the spec need not name any more.
    path: prepared?.paths[0],
    sizeBytes: wholeBlocks(sizeOf(spec)),
    from: source !== undefined && 'from' in source ? source.from : undefined,
    isForClaim: isForClaim(volume),
  });
}

const wholeBlocks = (bytes: bigint): bigint =>
  bytes <= 0n ? 0n : ((bytes + BLOCK - 1n) / BLOCK) * BLOCK;

/** Reports whether the name has the UID of a claim, so that no later volume ever gets this name. */
const isForClaim = ({ metadata, spec }: Volume): boolean =>
  /^pvc-[0-9a-f-]{36}$/.test(metadata.name) &&
  spec.template?.metadata?.annotations?.[PROVISIONED_BY_ANNOTATION] === DRIVER;

/** Source of a Volume's data, or why the volume cannot be provisioned from it now. */
export type VolumeSource = { from: FileSource | ThinSource } | { fill: Fill } | { problem: string };

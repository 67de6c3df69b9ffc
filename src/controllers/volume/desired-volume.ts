import { isReadOnlyShared } from '../../api/access-modes.ts';
import { DRIVER, FORCE_LVCREATE_ANNOTATION, PROVISIONED_BY_ANNOTATION } from '../../api/names.ts';
import { parseQuantity } from '../../api/quantity.ts';
import type { Volume } from '../../api/volume.ts';
import { earlierLink } from '../../storage/links.ts';
import { SPARSE_FOLDER } from '../../storage/loopfile/file.ts';
import type { Desired } from '../../storage/types.ts';
import type { Source } from './source.ts';
import type { ClassOptions } from './storage-class.ts';

/** File systems are made of blocks; a file is made at least as long as was asked, in whole ones. */
const BLOCK = 4096n;

/** The node that the Volume was made on, else where it is to be. */
export function nodeOf(volume: Volume): string {
  return volume.status?.prepared?.node ?? volume.spec.nodeName;
}

/** What becomes of the data: what is only lent to Kubernetes is kept, what was made for it goes with the Volume. */
export function onDeleteOf({ spec }: Volume): Desired['onDelete'] {
  const isMade = spec.sparseLoopDevice != null && spec.adopt == null;
  return spec.onDelete ?? (isMade ? 'Delete' : 'Retain');
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
  source?: Source,
): Desired {
  const { spec, status, metadata } = volume;
  const prepared = status?.prepared;
  const from = source !== undefined && 'from' in source ? source.from : undefined;
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
  // The path where it was made, else where it is to be.
  const path = prepared?.paths[0];
  if (spec.rawBlockDevice != null) {
    return {
      ...common,
      type: 'raw',
      devicePath: path ?? spec.rawBlockDevice.devicePath,
      overwrite: spec.overwrite,
      identity: prepared?.identity,
    };
  }
  const { lvmLogicalVolume } = spec;
  if (lvmLogicalVolume != null) {
    return {
      ...common,
      type: 'lvm',
      vgName: lvmLogicalVolume.vgName,
      thinPool: lvmLogicalVolume.thinPool,
      sizeBytes: sizeOf(volume),
      overwrite: spec.overwrite,
      forced: metadata.annotations?.[FORCE_LVCREATE_ANNOTATION] !== undefined,
      identity: prepared?.identity,
      source: from !== undefined && 'vgName' in from ? from : undefined,
      // A pod reads such a device from its first byte to its last.
      ...(madeForClaim(volume) && common.mode === 'Block' && !common.fill ? { zeroed: true } : {}),
    };
  }
  // One node alone has nobody to share it with.
  const shared = (spec.attachableNodes?.length ?? 0) > 1;
  return {
    ...common,
    type: 'sparse',
    ...(madeForClaim(volume) && prepared === undefined ? { once: true } : {}),
    ...(metadata.deletionTimestamp !== undefined && onDeleteOf(volume) === 'Delete'
      ? { givenUp: true }
      : {}),
    onDemand: spec.attachPolicy === 'OnDemand',
    readOnly: isReadOnlyShared(spec),
    shared,
    ...(spec.sparseLoopDevice?.requireMount === true ? { requireMount: true } : {}),
    source: from !== undefined && 'file' in from ? from : undefined,
    ...recordedBytes(shared && prepared !== undefined ? status?.capacity : undefined),
    owner: shared ? { node, token: `v${status?.attempt ?? 0}` } : undefined,
    file: path ?? `${spec.sparseLoopDevice?.directory ?? SPARSE_FOLDER}/${metadata.uid}`,
    sizeBytes: sizeOf(volume),
  };
}

/** Nothing for what is no size. */
function recordedBytes(capacity: string | undefined): { recordedBytes?: bigint } {
  try {
    return capacity === undefined ? {} : { recordedBytes: parseQuantity(capacity) };
  } catch {
    return {};
  }
}

/** 0 for what is no size: such a Volume is never made, and one that is made keeps the size that it has. */
function sizeOf({ spec }: Volume): bigint {
  try {
    const bytes = parseQuantity((spec.sparseLoopDevice ?? spec.lvmLogicalVolume)?.size ?? 0);
    return bytes <= 0n ? 0n : ((bytes + BLOCK - 1n) / BLOCK) * BLOCK;
  } catch {
    return 0n;
  }
}

/** Such a name has the UID of the claim: there is one volume of it in all time. */
const madeForClaim = ({ metadata, spec }: Volume): boolean =>
  /^pvc-[0-9a-f-]{36}$/.test(metadata.name) &&
  spec.template?.metadata?.annotations?.[PROVISIONED_BY_ANNOTATION] === DRIVER;

import { basename } from 'node:path';
import { refuse } from '../../api/reasons.ts';
import { partitionsOf } from '../block-devices.ts';
import type {
  BlockDevice,
  DesiredSparse,
  LoopFacts,
  ObservedSparse,
  Plan,
  Refusal,
} from '../types.ts';

/**
 * Returns the loop devices of a file, by the path that the kernel keeps, also of a removed file.
 */
export function loopsOf(observed: ObservedSparse): LoopFacts[] {
  const { realPath } = observed;
  return observed.loops.filter(
    ({ backingFile }) => backingFile === realPath || backingFile === `${realPath} (deleted)`,
  );
}

/** Returns the partition of a Block volume; undefined until the kernel knows it. */
export function partitionOf(loop: LoopFacts, observed: ObservedSparse): BlockDevice | undefined {
  return partitionsOf(loop.name, observed.devices)[0];
}

/** Returns the device of the volume: the loop device itself, or its partition. */
export function volumeDevice(
  desired: DesiredSparse,
  observed: ObservedSparse,
): Pick<BlockDevice, 'name' | 'device' | 'sizeBytes'> | undefined {
  const loop = loopsOf(observed)[0];
  return loop === undefined || desired.mode === 'Filesystem' ? loop : partitionOf(loop, observed);
}

/**
 * Refuses if the loop device has another file than the path. The device is then the last reference
 * to the data, which the kernel frees on detach.
 */
export function earlierFile(
  { file, onDelete }: DesiredSparse,
  observed: ObservedSparse,
  loop: LoopFacts,
): Refusal | undefined {
  if (observed.file.type === 'file' && loop.backingInode === observed.file.inode) return undefined;
  return refuse('LoopHasEarlierFile', {
    device: `/dev/${loop.name}`,
    file,
    onDelete: onDelete === 'Wipe' ? 'Delete' : undefined,
  });
}

/**
 * Refuses if a loop device has the Volume's file by another path. The persistent path, or the path
 * that udev derives from content, leads to it, and the file's name is still the Volume's. An NFS
 * client renames a file that is removed or replaced while it is open (`.nfs…`). A lazy unmount, or
 * moving the directory, changes the path before the name. Snapshots and unfinished copies have
 * other names.
 */
export function refuseMoved(desired: DesiredSparse, observed: ObservedSparse): Refusal | undefined {
  const { realPath, loops, devices } = observed;
  const links = [observed.link, observed.contentLink];
  const linked = devices.filter(({ device }) => links.includes(device));
  const moved = loops.find(
    ({ name, device, backingFile }) =>
      (links.includes(device) ||
        linked.some(({ type, parent }) => type === 'part' && parent === name)) &&
      mayBeOwnFile(basename(backingFile), basename(realPath)),
  );
  if (moved === undefined) return undefined;
  const refused = refuse('LoopFileMoved', {
    device: `/dev/${moved.name}`,
    found: moved.backingFile,
    file: desired.file,
  });
  return { ...refused, retryable: true };
}

/** Reports whether a file with this name may be `own`, removed or renamed by an NFS client. */
const mayBeOwnFile = (name: string, own: string): boolean =>
  name === own || name === `${own} (deleted)` || name.startsWith('.nfs');

/** Refuses if the loop device that has the file is not in the expected state. */
export function oddLoop(
  desired: DesiredSparse,
  observed: ObservedSparse,
  loop: LoopFacts,
  others: readonly LoopFacts[],
): Plan | undefined {
  const { file } = desired;
  const device = `/dev/${loop.name}`;
  if (others.length > 0) {
    const devices = [loop, ...others].map((each) => `/dev/${each.name}`).join(', ');
    return refuse('LoopAttachedTwice', { file, devices });
  }
  const earlier = earlierFile(desired, observed, loop);
  if (earlier !== undefined) return earlier;
  if (loop.autoclear) return { ...refuse('LoopDetachPending', { device }), retryable: true };
  if (!loop.wholeFile) return refuse('LoopOfPart', { device });
  if (loop.readOnly === desired.readOnly) return undefined;
  // losetup(8) silently attaches read-only if it cannot open the file for writing.
  return loop.readOnly
    ? refuse('LoopReadOnly', { device, file })
    : refuse('LoopWritable', { device });
}

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

/** The loops of a file, by the path that the kernel keeps; one whose file was removed keeps the path too. */
export function loopsOf(observed: ObservedSparse): LoopFacts[] {
  const { realPath } = observed;
  return observed.loops.filter(
    ({ backingFile }) => backingFile === realPath || backingFile === `${realPath} (deleted)`,
  );
}

/** The partition that a Block volume is, once the kernel knows it. */
export function partitionOf(loop: LoopFacts, observed: ObservedSparse): BlockDevice | undefined {
  return partitionsOf(loop.name, observed.devices)[0];
}

/** The device that is the volume: the loop itself, or its partition. */
export function volumeDevice(
  desired: DesiredSparse,
  observed: ObservedSparse,
): Pick<BlockDevice, 'name' | 'device' | 'sizeBytes'> | undefined {
  const loop = loopsOf(observed)[0];
  return loop === undefined || desired.mode === 'Filesystem' ? loop : partitionOf(loop, observed);
}

/** The device is all that still leads to the data: when it is detached, the kernel frees them. */
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
 * A loop that the persistent path leads to, or the path that udev derives from content, whose file has another path by now and
 * still is the Volume's by its name: an NFS client gives what is removed or replaced while it is open a name of its own
 * (`.nfs…`), and what was unmounted lazily, or moved with its folder, lost what came before. Of what is read otherwise, a
 * snapshot's file or an unfinished copy, the name says so.
 */
export function refuseMoved(desired: DesiredSparse, observed: ObservedSparse): Refusal | undefined {
  const { realPath, loops, devices } = observed;
  const links = [observed.link, observed.contentLink];
  const linked = devices.filter(({ device }) => links.includes(device));
  const moved = loops.find(
    ({ name, device, backingFile }) =>
      (links.includes(device) ||
        linked.some(({ type, parent }) => type === 'part' && parent === name)) &&
      isOther(basename(backingFile), basename(realPath)),
  );
  if (moved === undefined) return undefined;
  const refused = refuse('LoopFileMoved', {
    device: `/dev/${moved.name}`,
    found: moved.backingFile,
    file: desired.file,
  });
  return { ...refused, retryable: true };
}

const isOther = (name: string, own: string): boolean =>
  name === own || name === `${own} (deleted)` || name.startsWith('.nfs');

/** Why nothing may be done with the loop that has the file. */
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
  // losetup(8) attaches read-only what it could not open to write, and says nothing of it.
  return loop.readOnly
    ? refuse('LoopReadOnly', { device, file })
    : refuse('LoopWritable', { device });
}

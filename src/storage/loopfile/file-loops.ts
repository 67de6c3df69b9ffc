import { basename } from 'node:path';
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
  return {
    refusal: `/dev/${loop.name} has an earlier file of the name ${file}, which was removed or replaced`,
    hint: `The data is still reachable through the device. Copy it away, then detach it with losetup -d /dev/${loop.name}. Or ${onDelete === 'Wipe' ? 'set onDelete to Delete, as it is not wiped from there, and ' : ''}delete the Volume if its data is given up.`,
  };
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
  const { name, backingFile } = moved;
  return {
    refusal: `/dev/${name}, which the persistent path leads to, has ${backingFile} and not ${desired.file}: that was removed, replaced, moved or unmounted while it was attached`,
    hint: `What was written last may be reachable through the device alone. See to that, and that nothing uses it; then: losetup -d /dev/${name}`,
    retryable: true,
  };
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
  if (others.length > 0) {
    const names = [loop, ...others].map((each) => `/dev/${each.name}`).join(', ');
    return {
      refusal: `${desired.file} is attached more than once: ${names}`,
      hint: 'Writing through more than one of them destroys data. Detach all but one with losetup -d.',
    };
  }
  const earlier = earlierFile(desired, observed, loop);
  if (earlier !== undefined) return earlier;
  if (loop.autoclear) {
    return {
      refusal: `/dev/${loop.name} was detached while in use and goes when its last user does`,
      hint: 'It is attached anew once it is gone.',
      retryable: true,
    };
  }
  if (!loop.wholeFile || loop.readOnly !== desired.readOnly) {
    const how = loop.readOnly ? 'read-only' : 'so that it can be written to';
    // losetup(8) attaches read-only what it could not open to write, and says nothing of it.
    const fallen =
      loop.wholeFile && loop.readOnly ? ', or the file could not be opened to write' : '';
    return {
      refusal: `/dev/${loop.name} was attached by someone else: ${loop.wholeFile ? how : 'a part of the file only'}${fallen}`,
      hint: `${fallen && `See that the file system of ${desired.file} is not mounted read-only. `}Detach it with losetup -d /dev/${loop.name}; it is then attached as it should be.`,
    };
  }
  return undefined;
}

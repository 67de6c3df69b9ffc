import type { Guard, Step } from '../../nodes/job.ts';
import { GPT_START, growTable } from '../gpt.ts';
import { tellKernel } from '../partx.ts';
import { writeDone } from '../records.ts';
import type { BlockDevice, DesiredSparse, LoopFacts, ObservedSparse, Plan } from '../types.ts';
import { fileBytes, madeBytes } from './layout.ts';
import { syncFile } from './prepare.ts';

/** Where a file system is mounted for as long as it grows. */
const mountPoint = (uid: string) => `/run/stowage/mounts/${uid}`;

/**
 * What remains to be done until the volume is as large as wanted: file, loop device, partition, file system, each also
 * while it is in use. The record of the size comes last, and every step before it can be done again.
 */
export function planGrow(
  desired: DesiredSparse,
  observed: ObservedSparse,
  loop: LoopFacts,
  device: Pick<BlockDevice, 'name'>,
): Plan {
  const made = madeBytes(desired, observed);
  const left = leaveMount(desired, loop, observed);
  if (desired.sizeBytes <= (made ?? 0n)) return { steps: left };
  if (made === undefined) {
    return desired.sizeBytes <= loop.sizeBytes - GPT_START
      ? { steps: left }
      : {
          refusal: `nothing on the node says how the partition in ${desired.file} was made, so it is not grown`,
          hint: 'Set the size in the spec back, or grow file and partition by hand.',
        };
  }
  return {
    grows: true,
    steps: [
      ...growFile(desired, observed),
      // After a power cut no file system or table may be there that is larger than the file it is in.
      ...syncFile(desired),
      ...growLoop(desired, loop),
      ...(desired.mode === 'Block'
        ? growPartition(desired, loop, device)
        : [...left, ...growFileSystem(desired, observed, loop)]),
      ...writeDone(desired.uid, desired.sizeBytes),
    ],
  };
}

/** Takes off what an interrupted growing left mounted. */
export function leaveMount({ uid }: DesiredSparse, loop: LoopFacts, observed: ObservedSparse): Step[] {
  return observed.mounts.get(loop.device)?.includes(mountPoint(uid)) ? unmount(uid) : [];
}

function growFile(desired: DesiredSparse, { file }: ObservedSparse): Step[] {
  const bytes = fileBytes(desired);
  if (file.type !== 'file' || file.sizeBytes >= bytes) return [];
  return [
    {
      name: `grow the file to ${bytes} bytes`,
      argv: ['truncate', '-s', String(bytes), '--', desired.file],
      guards: [
        {
          // It could have grown meanwhile, and is never cut.
          argv: ['stat', '-c', '%s|%i', '--', desired.file],
          expect: { exit: 0, stdout: { is: `${file.sizeBytes}|${file.inode}` } },
          refusal: `${desired.file} is no longer the file of ${file.sizeBytes} bytes that it was`,
        },
      ],
    },
  ];
}

function growLoop(desired: DesiredSparse, loop: LoopFacts): Step[] {
  const device = `/dev/${loop.name}`;
  return [
    {
      name: `have ${device} take the size of its file`,
      argv: ['losetup', '-c', device],
      guards: [
        {
          argv: ['losetup', '-n', '--raw', '-O', 'BACK-INO', device],
          expect: { exit: 0, stdout: { is: loop.backingInode } },
          refusal: `${device} no longer has ${desired.file}`,
        },
      ],
    },
  ];
}

function growPartition(
  desired: DesiredSparse,
  loop: LoopFacts,
  partition: Pick<BlockDevice, 'name'>,
): Step[] {
  const disk = `/dev/${loop.name}`;
  const entry = (field: string, value: string) => ({
    argv: ['blkid', '-p', '-o', 'value', '-s', field, `/dev/${partition.name}`],
    expect: { exit: 0, stdout: { is: value } },
    refusal: `/dev/${partition.name} is not the partition that was made`,
  });
  return [
    {
      name: 'grow the partition',
      argv: growTable(desired, desired.sizeBytes, disk),
      guards: [entry('PART_ENTRY_UUID', desired.uid), entry('PART_ENTRY_OFFSET', String(GPT_START / 512n))],
      lock: disk,
    },
    tellKernel(1, disk),
  ];
}

/**
 * Mounted, also where it is mounted already: its mount is not known to be one that we see. The kernel's journal keeps it
 * whole through a power cut; a resize2fs of what is not mounted can leave an ext4, when it is cut off, that e2fsck -p gives up.
 */
function growFileSystem(desired: DesiredSparse, observed: ObservedSparse, loop: LoopFacts): Step[] {
  const { signature, mounts } = observed;
  const type = signature.found === 'one' && signature.type === 'xfs' ? 'xfs' : 'ext4';
  const device = `/dev/${loop.name}`;
  const point = mountPoint(desired.uid);
  const isMounted = mounts.get(loop.device)?.some((path) => path !== point);
  if (type === 'ext4' && !observed.growsMounted && !isMounted) return growUnmounted(desired, device);
  return [
    { name: 'make a place to mount it', argv: ['mkdir', '-p', '-m', '0700', '--', point], guards: [] },
    {
      name: `mount the ${type} file system for a moment`,
      argv: ['mount', '-t', type, '-o', 'nosuid,nodev,noexec', '--', device, point],
      guards: [stillOurs(desired, device)],
    },
    {
      name: `grow the ${type} file system`,
      argv: type === 'xfs' ? ['xfs_growfs', point] : ['resize2fs', device],
      guards: [],
    },
    ...unmount(desired.uid),
  ];
}

/** As long as root may not grow it otherwise. */
function growUnmounted(desired: DesiredSparse, device: string): Step[] {
  const guards = [stillOurs(desired, device)];
  return [
    {
      name: 'check the ext4 file system, which resize2fs asks for',
      argv: ['e2fsck', '-f', '-p', device],
      guards,
      // Its status is 1 after it mended something, and 8 where it was mounted meanwhile.
      mayRace: true,
    },
    { name: 'grow the ext4 file system', argv: ['resize2fs', device], guards },
  ];
}

function stillOurs({ uid }: DesiredSparse, device: string): Guard {
  return {
    argv: ['blkid', '-p', '-o', 'value', '-s', 'UUID', device],
    expect: { exit: 0, stdout: { is: uid } },
    refusal: `${device} no longer holds the file system ${uid}`,
  };
}

function unmount(uid: string): Step[] {
  const point = mountPoint(uid);
  return [
    { name: 'unmount it', argv: ['umount', '--', point], guards: [] },
    { name: 'remove the place', argv: ['rmdir', '--', point], guards: [] },
  ];
}

import { refuse } from '../../api/reasons.ts';
import type { Step } from '../../nodes/job.ts';
import { GPT_START, growTable } from '../gpt.ts';
import { growFileSystem, leaveMount } from '../grow-file-system.ts';
import { rereadPartition } from '../partx.ts';
import { recordSize, writeDone } from '../records.ts';
import { entryBlkid } from '../signature.ts';
import type { BlockDevice, DesiredSparse, LoopFacts, ObservedSparse, Plan } from '../types.ts';
import { sameFile } from './file.ts';
import { fileBytes, madeBytes } from './layout.ts';
import { syncFile } from './provision.ts';

/**
 * Plans the expansion to the requested size: file, loop device, partition, file system, each also
 * while it is in use. The size is recorded last, and every step before can be repeated.
 */
export function planGrow(
  desired: DesiredSparse,
  observed: ObservedSparse,
  loop: LoopFacts,
  device: Pick<BlockDevice, 'name'>,
): Plan {
  const made = madeBytes(desired, observed);
  const left = leaveMount(desired.uid, loop, observed);
  if (desired.sizeBytes <= (made ?? 0n)) return { steps: left };
  if (made === undefined) {
    if (desired.sizeBytes <= loop.sizeBytes - GPT_START) return { steps: left };
    // The volume stays usable: a size in a spec cannot be reduced again.
    const { refusal, reason } = refuse('CannotGrow', {
      bytes: desired.sizeBytes,
      why: `nothing on the node shows how the partition in ${desired.file} was created`,
    });
    return { steps: left, notes: [refusal], reason };
  }
  return {
    grows: true,
    steps: [
      ...growFile(desired, observed),
      // After a power cut no file system or table may be larger than its file.
      ...syncFile(desired),
      ...growLoop(desired, loop),
      ...(desired.mode === 'Block'
        ? growPartition(desired, loop, device)
        : [...left, ...growFileSystem(desired.uid, loop, observed.signature, observed)]),
      ...((observed.intent ?? observed.done) ? writeDone : recordSize)(
        desired.uid,
        desired.sizeBytes,
      ),
    ],
  };
}

function growFile(desired: DesiredSparse, { file }: ObservedSparse): Step[] {
  const bytes = fileBytes(desired);
  if (file.type !== 'file' || file.sizeBytes >= bytes) return [];
  return [
    {
      name: `grow the file to ${bytes} bytes`,
      argv: ['truncate', '-s', String(bytes), '--', desired.file],
      // The file could have grown meanwhile, and is never truncated.
      preconditions: [sameFile(desired.file, file)],
    },
  ];
}

function growLoop(desired: DesiredSparse, loop: LoopFacts): Step[] {
  const device = `/dev/${loop.name}`;
  return [
    {
      name: `update the size of ${device} from its file`,
      argv: ['losetup', '-c', device],
      preconditions: [
        {
          argv: ['losetup', '-n', '--raw', '-O', 'BACK-INO', device],
          expect: { exit: 0, stdout: { is: loop.backingInode } },
          ...refuse('LoopFileChanged', { device, file: desired.file }),
        },
      ],
      // Another's losetup may have detached the device since.
      failureMeansConflict: true,
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
    argv: entryBlkid(`/dev/${partition.name}`, 'value', field),
    expect: { exit: 0, stdout: { is: value } },
    ...refuse('PartitionReplaced', { device: `/dev/${partition.name}` }),
  });
  return [
    {
      name: 'grow the partition',
      argv: growTable(desired, desired.sizeBytes, disk),
      preconditions: [
        entry('PART_ENTRY_UUID', desired.uid),
        entry('PART_ENTRY_OFFSET', String(GPT_START / 512n)),
      ],
      lock: disk,
    },
    rereadPartition(1, disk),
  ];
}

import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { GPT_START, newTableInFile } from '../gpt.ts';
import { mkfs, tooSmall } from '../mkfs.ts';
import { fillStep } from '../populate/fill.ts';
import type { FillTarget } from '../populate/types.ts';
import { leaveLoop } from '../snapshot/cleanup.ts';
import { copyContent } from '../snapshot/restore.ts';
import type { Content } from '../snapshot/types.ts';
import type { DesiredSparse, ObservedSparse, Plan } from '../types.ts';
import { notAttached, partialOf } from './file.ts';
import { fileBytes } from './layout.ts';

/**
 * Returns the content of a volume's file: an empty file system or table, a copy, or populated
 * storage; or a refusal.
 */
export function contentOf(
  desired: DesiredSparse,
  observed: ObservedSparse,
): Content | Extract<Plan, { refusal: string }> {
  const partial = partialOf(desired.file);
  if (desired.source !== undefined) return copyContent(desired, desired.source, observed, partial);
  const small = desired.fs === undefined ? undefined : tooSmall(desired.fs.type, desired.sizeBytes);
  if (desired.mode === 'Filesystem' && small !== undefined) return small;
  const bytes = fileBytes(desired);
  const left =
    desired.fill === undefined
      ? { steps: [] }
      : leaveLoop(partialOf(observed.realPath), desired.uid, observed);
  if ('refusal' in left) return left;
  const empty: Precondition = {
    argv: ['blkid', '-p', partial],
    expect: { exit: 2 },
    ...refuse('UnfinishedFileChanged', { file: partial }),
  };
  return {
    left: left.steps,
    steps: [
      {
        name: `create a sparse file of ${bytes} bytes`,
        argv: ['truncate', '-s', String(bytes), '--', partial],
        preconditions: [],
      },
      { ...makeContent(desired, partial), preconditions: [empty] },
      ...(desired.fill === undefined ? [] : [fillStep(desired.fill, targetOf(desired, partial))]),
    ],
    fsType: desired.mode === 'Filesystem' ? (desired.fs?.type ?? '') : '',
    whole: desired.fill === undefined ? [] : [notAttached(partial)],
  };
}

/** Returns the target to populate. A new file reads as zeros. */
function targetOf({ uid, mode, fs, sizeBytes }: DesiredSparse, path: string): FillTarget {
  return {
    ...{ path, uid, sizeBytes, isZero: true },
    content: mode === 'Filesystem' && fs !== undefined ? fs.type : 'block',
    offsetBytes: mode === 'Block' ? GPT_START : 0n,
  };
}

/** @throws Error in mode Filesystem without a file system: the caller resolves the class */
function makeContent(desired: DesiredSparse, path: string): Pick<Step, 'name' | 'argv'> {
  if (desired.mode === 'Block') {
    return { name: 'create the partition', argv: newTableInFile(desired, desired.sizeBytes, path) };
  }
  if (desired.fs === undefined) throw new Error(`no file system is known for ${path}`);
  return {
    name: `create the ${desired.fs.type} file system`,
    argv: mkfs(desired.fs, desired.uid, path),
  };
}

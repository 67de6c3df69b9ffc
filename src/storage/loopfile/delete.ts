import { dirname } from 'node:path';
import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { halfAdopted } from '../adoption.ts';
import { refuseAway } from '../directory/refuse.ts';
import { removeRecords } from '../records.ts';
import { leaveLoop } from '../snapshot/cleanup.ts';
import type { DesiredSparse, ObservedSparse, Plan } from '../types.ts';
import { wipe } from '../wipe.ts';
import { planDetach } from './attach.ts';
import { notAttached, partialOf } from './file.ts';
import { planPutBack } from './put-back.ts';

/**
 * Plans the steps after which nothing of the volume is left on the node: loop device, file (unless
 * it is retained), records. Records go last, so that leftovers have a known owner. A file that is
 * not the Volume's stays.
 */
export function planDelete(desired: DesiredSparse, observed: ObservedSparse): Plan {
  const from = halfAdopted(desired, observed);
  if (from !== undefined) return planPutBack(desired, from, observed);
  const records = observed.recordFiles ? removeRecords(desired.uid) : [];
  if (!isOurs(desired, observed)) {
    // Half a record (a crash before its rename) is the Volume's by its name; its file does not
    // exist.
    return { steps: observed.intent === undefined ? records : [] };
  }
  // A file that is not visible now would stay permanently, without a record of its owner.
  const away = observed.file.type === 'missing' ? refuseAway(observed.directory) : undefined;
  if (away !== undefined) return away;
  const detaching = planDetach({ ...desired, discarded: desired.onDelete === 'Delete' }, observed);
  if ('refusal' in detaching) return detaching;
  const left = leaveLoop(partialOf(observed.realPath), desired.uid, observed);
  if ('refusal' in left) return left;
  return {
    steps: [...detaching.steps, ...left.steps, ...removeFiles(desired, observed), ...records],
  };
}

function removeFiles(desired: DesiredSparse, observed: ObservedSparse): Step[] {
  const { file } = desired;
  const partial = observed.partial.type === 'missing' ? [] : removeFile(partialOf(file));
  if (desired.onDelete === 'Retain' || observed.file.type === 'missing') return partial;
  return [...partial, ...wipeFile(desired, observed), ...removeFile(file)];
}

function wipeFile(desired: DesiredSparse, observed: ObservedSparse): Step[] {
  if (desired.onDelete !== 'Wipe' || observed.file.type !== 'file') return [];
  const { sizeBytes, inode } = observed.file;
  const same: Precondition = {
    argv: ['stat', '-c', '%F|%s|%i', '--', desired.file],
    expect: { exit: 0, stdout: { is: `regular file|${sizeBytes}|${inode}` } },
    ...refuse('FileReplaced', { file: desired.file }),
  };
  return wipe(desired.uid, desired.file, sizeBytes, observed.wiped, {
    preconditions: [same, notAttached(desired.file)],
    isFile: true,
  });
}

/**
 * Reports whether the file is the Volume's, by a record on the node or the status. The file's name
 * alone proves nothing.
 */
function isOurs(desired: DesiredSparse, observed: ObservedSparse): boolean {
  const { intent } = observed;
  if (intent !== undefined) {
    return intent.uid === desired.uid && intent.file === desired.file;
  }
  return observed.done !== undefined || desired.recorded;
}

function removeFile(file: string): Step[] {
  return [
    { name: `remove ${file}`, argv: ['rm', '-f', '--', file], preconditions: [notAttached(file)] },
    { name: 'sync its directory', argv: ['sync', dirname(file)], preconditions: [] },
  ];
}

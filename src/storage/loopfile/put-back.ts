import { refuse } from '../../api/reasons.ts';
import type { Step } from '../../nodes/job.ts';
import { notAdopted, putBackAway } from '../adoption.ts';
import { onSameFileSystem } from '../directory/directory-record.ts';
import { refuseAway } from '../directory/refuse.ts';
import { removeRecords } from '../records.ts';
import type { DesiredSparse, ObservedSparse, Plan, Refusal } from '../types.ts';
import {
  change,
  isThere,
  notThere,
  pathOf,
  preconditionsOfEarlier,
  refuseEarlier,
} from './adopt.ts';
import { notAttached, partialOf } from './file.ts';

/**
 * Plans the deletion of a Volume before its adoption is complete: the file gets its earlier name
 * and UID back.
 */
export function planPutBack(desired: DesiredSparse, from: string, observed: ObservedSparse): Plan {
  const { file } = desired;
  const { intent, earlierFile } = observed;
  const records = removeRecords(desired.uid);
  const away = refuseAway(observed.directory);
  if (away !== undefined) return away;
  if (intent === undefined) return { steps: records };
  if (![observed.file, observed.partial].some(isThere)) {
    const isKnown = observed.directory.recorded !== undefined;
    return isKnown || earlierFile?.file.type === 'file'
      ? { steps: records }
      : noFile(desired, from);
  }
  const held = refuseEarlier(desired, from, observed);
  if (held !== undefined) return held;
  const to = { uid: from, file: pathOf(desired, from) };
  if (earlierFile !== undefined && earlierFile.file.type !== 'missing') {
    const unfinished = partialOf(file);
    return refuse('AdoptedFileIsBack', { file: to.file, taken: file, unfinished });
  }
  const changed = change(desired, intent.fsType, to, [
    ...preconditionsOfEarlier(desired, from, observed),
    // A directory of an earlier version has no record.
    ...(observed.directory.recorded === undefined ? [] : onSameFileSystem(observed.directory)),
  ]);
  const named: Step[] =
    observed.partial.type === 'missing'
      ? [
          {
            name: 'rename the file to its temporary name',
            argv: ['mv', '-T', '--', file, partialOf(file)],
            preconditions: [notAdopted(desired), notThere(partialOf(file)), notAttached(file)],
          },
        ]
      : [];
  return { steps: [...named, ...changed, ...records] };
}

/**
 * Refuses because another file system may be mounted in place of the file's, and no record shows
 * that.
 */
const noFile = (desired: DesiredSparse, from: string): Refusal =>
  putBackAway(
    desired,
    `none of the files ${[pathOf(desired, from), desired.file, partialOf(desired.file)].join(', ')} exists: their file system may not be mounted`,
  );

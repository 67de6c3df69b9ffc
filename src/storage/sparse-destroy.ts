import { dirname } from 'node:path';
import type { Step } from '../nodes/job.ts';
import { removeRecords } from './records.ts';
import { planAbsent } from './sparse-attach.ts';
import { partialOf } from './sparse-observe.ts';
import type { Desired, Observed, Plan } from './types.ts';

/**
 * What remains to be done until nothing of the volume is left on the node: loop device, file, records.
 * The records go last: as long as anything is left, it is known whose it is. A file that is not ours stays.
 */
export function planDestroy(desired: Desired, observed: Observed): Plan {
  const records = observed.recordFiles ? removeRecords(desired.uid) : [];
  if (!isOurs(desired, observed)) {
    // Half a record (a crash before its rename) is ours by its name alone; what it would speak of is not there.
    return { steps: observed.intent === undefined ? records : [] };
  }
  const absent = planAbsent(desired, observed);
  if ('refusal' in absent) return absent;
  const files = [desired.file, partialOf(desired.file)].filter(
    (_, index) => [observed.file, observed.partial][index]?.type !== 'missing',
  );
  return {
    steps: [...absent.steps, ...files.flatMap((file) => removeFile(file)), ...records],
  };
}

/** By our record on the node or in the Volume's status, and never by the file's name alone. */
function isOurs(desired: Desired, observed: Observed): boolean {
  const { intent } = observed;
  if (intent !== undefined) {
    return intent.uid === desired.uid && intent.file === desired.file;
  }
  return observed.done || desired.recorded;
}

function removeFile(file: string): Step[] {
  return [
    {
      name: `remove ${file}`,
      argv: ['rm', '-f', '--', file],
      guards: [
        {
          // Read back: a busy loop device survives `losetup -d`, which says nothing of it.
          argv: ['losetup', '-j', file],
          expect: { exit: 0, stdout: { is: '' } },
          refusal: `${file} is still attached to a loop device`,
        },
      ],
    },
    { name: 'sync its folder', argv: ['sync', dirname(file)], guards: [] },
  ];
}

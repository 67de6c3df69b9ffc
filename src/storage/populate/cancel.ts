import type { Step } from '../../nodes/job.ts';
import { partialOf } from '../loopfile/file.ts';
import { cancelPath } from '../records.ts';
import type { Desired } from '../types.ts';

/**
 * What ends the filling of a volume that nobody wants any more, beside the job that is at it: the program that fills a file ends when
 * that is taken away, and the one that fills a device when it is told so.
 */
export function cancelFill(desired: Desired): Step[] {
  const name = 'end the filling';
  switch (desired.type) {
    case 'sparse':
      return [{ name, argv: ['rm', '-f', '--', partialOf(desired.file)], guards: [] }];
    case 'lvm':
      return [
        {
          name,
          argv: ['install', '-D', '-m', '0600', '/dev/null', cancelPath(desired.uid)],
          guards: [],
        },
      ];
    case 'raw':
      return [];
  }
}

import type { Step } from '../../nodes/job.ts';
import { partialOf } from '../sparse/file.ts';
import type { Desired } from '../types.ts';

/**
 * What ends the filling of a volume that nobody wants any more, beside the job that is at it: the program that fills a file ends when
 * that is taken away. Where there is none, the end of the job is waited for.
 */
export const cancelFill = (desired: Desired): Step[] =>
  desired.type === 'sparse'
    ? [{ name: 'end the filling', argv: ['rm', '-f', '--', partialOf(desired.file)], guards: [] }]
    : [];

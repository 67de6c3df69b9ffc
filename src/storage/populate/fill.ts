import type { Step } from '../../nodes/job.ts';
import { archiveArgv, backupArgv } from './archive.ts';
import { imageArgv } from './image.ts';
import { sourceInput } from './source-words.ts';
import type { Fill, FillTarget } from './types.ts';

/**
 * Exit status of a script for a source that can never populate the volume. Other failures are
 * retried.
 */
export const REFUSED = 3;

/** Commands of the built-in populators. */
const ARGVS: { readonly [K in Fill['builtin']]?: (fill: Fill, target: FillTarget) => string[] } = {
  Image: imageArgv,
  Archive: archiveArgv,
  Backup: backupArgv,
};

/**
 * Returns a step that populates new storage. Its program removes a file that it fails to populate.
 * @throws Error for a built-in that this version lacks
 */
export function fillStep(fill: Fill, target: FillTarget): Step {
  const argv = ARGVS[fill.builtin]?.(fill, target);
  if (argv === undefined) throw new Error(`no built-in populates volumes from ${fill.what}`);
  return {
    name: `populate the volume from ${fill.what}`,
    argv,
    // Neither in arguments, which all processes on the node can see, nor in the output of a
    // failure.
    stdin: sourceInput({ ...fill, source: fill.options.source ?? '' }),
    preconditions: [],
  };
}

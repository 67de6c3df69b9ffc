import type { Step } from '../../nodes/job.ts';
import { archiveArgv, backupArgv } from './archive.ts';
import { imageArgv } from './image.ts';
import { sourceInput } from './source-words.ts';
import type { Fill, FillTarget } from './types.ts';

/** The exit status by which a script says that it can never be filled from that. Of others it is tried again. */
export const REFUSED = 3;

/** How the built-ins that there are fill a volume. */
const ARGVS: { readonly [K in Fill['builtin']]?: (fill: Fill, target: FillTarget) => string[] } = {
  Image: imageArgv,
  Archive: archiveArgv,
  Backup: backupArgv,
};

/**
 * The step that fills what is being made. Its program sees to it that of a file that it could not fill nothing is left.
 * @throws Error for a built-in that this version does not have
 */
export function fillStep(fill: Fill, target: FillTarget): Step {
  const argv = ARGVS[fill.builtin]?.(fill, target);
  if (argv === undefined) throw new Error(`nothing fills volumes from ${fill.what}`);
  return {
    name: `fill it from ${fill.what}`,
    argv,
    // Neither among arguments, which all on the node can see, nor in what a failure prints.
    stdin: sourceInput({ ...fill, source: fill.options.source ?? '' }),
    preconditions: [],
  };
}

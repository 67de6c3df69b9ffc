import { refuseAway } from '../../../storage/directory/refuse.ts';
import type { ObservedDirectory } from '../../../storage/directory/types.ts';
import type { Check } from '../../lib/checks/report.ts';
import type { Closed } from './facts.ts';

/** Reports directories that could not be read, so that their leftovers are unknown. Pure. */
export const closedChecks = (closed: readonly Closed[]): Check[] =>
  closed.map(({ folder, problem, hint }) => ({
    check: 'leftovers',
    ok: false,
    message: `${folder} is not checked: ${problem}`,
    ...(hint === undefined ? {} : { hint }),
  }));

/** Checks that directories of volumes are on the file systems on record. Pure. */
export const directoryChecks = (directories: readonly ObservedDirectory[]): Check[] =>
  directories.map((each) => {
    const away = refuseAway(each);
    return away === undefined
      ? { check: 'directory', ok: true, message: `${each.directory} is on its file system` }
      : { check: 'directory', ok: false, message: away.refusal, hint: away.hint };
  });

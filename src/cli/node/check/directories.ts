import { quoteAll } from '../../../nodes/quote.ts';
import { directoryRecord } from '../../../storage/directory/directory-record.ts';
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

/** Maximum number of directories that a message names, and of records that a command removes. */
const MOST_NAMED = 3;
const MOST_REMOVED = 50;

/**
 * Splits directories on record into those with a row each, and those that are only counted: they
 * do not exist, and no object names them. A single one that should be mounted has a row. Pure.
 */
export function splitDirectories(
  directories: readonly ObservedDirectory[],
  unused: readonly string[],
): { checked: ObservedDirectory[]; gone: ObservedDirectory[] } {
  const gone = directories.filter(({ directory }) => unused.includes(directory));
  const away = gone.filter((each) => refuseAway(each) !== undefined);
  const counted = away.length === 1 ? gone.filter((each) => !away.includes(each)) : gone;
  return { checked: directories.filter((each) => !counted.includes(each)), gone: counted };
}

/** Reports the records of directories that are gone, in one row. Pure. */
export function goneChecks(gone: readonly ObservedDirectory[]): Check[] {
  if (gone.length === 0) return [];
  const names = gone.map(({ directory }) => directory).sort();
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  const records = names.slice(0, MOST_REMOVED).map(directoryRecord);
  const first = names.length > MOST_REMOVED ? `the first ${MOST_REMOVED} of them` : 'them';
  return [
    {
      check: 'leftover',
      ok: false,
      message: `records of directories that do not exist, and that no class or Volume names: ${names.length} (${names.slice(0, MOST_NAMED).join(', ')}${more})`,
      hint: `If a file system with such a directory is to be mounted, mount it. Otherwise remove the records; the command removes ${first}.`,
      command: quoteAll(['rm', '--', ...records]),
    },
  ];
}

/** Checks that directories of volumes are on the file systems on record. Pure. */
export const directoryChecks = (directories: readonly ObservedDirectory[]): Check[] =>
  directories.map((each) => {
    const away = refuseAway(each);
    return away === undefined
      ? { check: 'directory', ok: true, message: `${each.directory} is on its file system` }
      : { check: 'directory', ok: false, message: away.refusal, hint: away.hint };
  });

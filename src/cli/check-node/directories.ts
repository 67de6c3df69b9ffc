import { refuseAway } from '../../storage/directory/refuse.ts';
import type { ObservedDirectory } from '../../storage/directory/types.ts';
import type { Check } from './report.ts';

/** Whether directories of volumes are on the file systems that were recorded. Pure. */
export const directoryChecks = (directories: readonly ObservedDirectory[]): Check[] =>
  directories.map((each) => {
    const away = refuseAway(each);
    return away === undefined
      ? { check: 'directory', ok: true, message: `${each.directory} is on its file system` }
      : { check: 'directory', ok: false, message: away.refusal, hint: away.hint };
  });

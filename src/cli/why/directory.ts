import { READY_REASON } from '../../api/names.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { mount } from './fixes/directories.ts';
import { obstructionOf, sentenceOf } from './obstruction.ts';
import { sinceOf } from './state.ts';
import type { Cause } from './types.ts';

/**
 * Reports that the file system of the Volume's directory is not mounted, which blocks provisioning,
 * attaching and deleting.
 */
export const directoryNotMounted: Cause = ({ volume }) => {
  const ready = readyOf(volume);
  if (ready?.reason !== READY_REASON.directoryNotMounted) return undefined;
  const found = obstructionOf(ready.detail, { node: nodeOf(volume), volume });
  const isOurs = found?.cause === 'DirectoryNotMounted';
  return {
    cause: 'DirectoryNotMounted',
    holdup:
      (isOurs && sentenceOf(ready.message ?? '', found, found.fix)) ||
      ready.message ||
      ready.reason,
    ...sinceOf(ready),
    next: { when: 'automatically, once it is mounted' },
    fix: (isOurs && found.fix) || mount({}, { node: nodeOf(volume) }),
  };
};

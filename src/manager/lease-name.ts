import { createHash } from 'node:crypto';

/** As long as a name may be. */
const MAX_NAME = 253;

/**
 * The name of the Lease: one for all that reach every node, and one for those that are the same nodes, so that a daemon on
 * each node (`--transport local`) does not wait for one on another.
 */
export function leaseName(localNodes: readonly string[]): string {
  const name = ['stowage', ...[...localNodes].sort()].join('-');
  return name.length <= MAX_NAME
    ? name
    : `stowage-${createHash('sha256').update(name).digest('hex')}`;
}

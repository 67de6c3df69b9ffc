import { createHash } from 'node:crypto';

/** Maximum length of a name. */
const MAX_NAME = 253;

/**
 * Returns the name of the Lease: one for daemons that reach all nodes, and one per set of local
 * nodes. So a daemon on each node (`--transport local`) does not wait for one on another node.
 */
export function leaseName(localNodes: readonly string[]): string {
  const name = ['stowage', ...[...localNodes].sort()].join('-');
  return name.length <= MAX_NAME
    ? name
    : `stowage-${createHash('sha256').update(name).digest('hex')}`;
}

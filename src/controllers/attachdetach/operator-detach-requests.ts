import type { Volume } from '../../api/volume.ts';
import type { Managed, NodeFacts } from './types.ts';
import type { VolumeState } from './volume-state.ts';

/**
 * Returns the nodes whose attachment an operator removed from the status to force-detach it. A
 * request is valid for a node that is off or has no Node object. It is also valid for the only node
 * of a volume once NotReady, since no other node could write to it. Any other attachment is written
 * again.
 */
export function operatorDetachRequests(
  known: VolumeState,
  volume: Volume,
  managed: Managed,
  factsOf: (node: string) => NodeFacts,
): string[] {
  const shown = new Set(volume.status?.attachments?.map(({ node }) => node));
  return known.entries.flatMap(({ node }) => {
    if (!known.written.has(node) || shown.has(node)) return [];
    const { exists, off, ready } = factsOf(node);
    return !exists || off || (managed.nodes.length === 1 && !ready) ? [node] : [];
  });
}

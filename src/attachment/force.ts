import type { KubeNode } from '../api/core.ts';
import type { Logger } from '../api/logger.ts';
import { EVENT } from '../api/names.ts';
import { NODES } from '../api/resources.ts';
import type { Volume } from '../api/volume.ts';
import { isNotFound } from '../kube/errors.ts';
import type { EventRecorder } from '../kube/events.ts';
import type { Informer } from '../kube/informer.ts';
import type { KubeClient } from '../kube/types.ts';
import type { Known } from './known.ts';
import type { Next, NodeFacts } from './types.ts';

type Forced = Next['forced'][number];

export interface ForceDeps {
  client: KubeClient;
  nodes: Informer<KubeNode>;
  events: EventRecorder;
  logger: Logger;
  factsOf(node: string, volume: Volume): NodeFacts;
  onForced?: ((reason: Forced['reason']) => void) | undefined;
}

/** What goes with letting go of a node that nobody looked at. */
export function createForce({ client, nodes, events, logger, factsOf, onForced }: ForceDeps) {
  return { areStillGone, tell };

  /** Nothing is let go of by what a cache says: it may be minutes old. */
  async function areStillGone(known: Known, { forced }: Next): Promise<boolean> {
    let same = true;
    for (const { node } of forced) {
      const before = factsOf(node, known.volume);
      try {
        nodes.learn(await client.get<KubeNode>(NODES, node));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        if (nodes.get(node) !== undefined) same = false;
      }
      const after = factsOf(node, known.volume);
      if (JSON.stringify(before) !== JSON.stringify(after)) same = false;
    }
    return same;
  }

  function tell(known: Known, { node, reason, message }: Forced): void {
    // When it is back, it is looked at: what it still has is taken from it.
    known.unseen.add(node);
    onForced?.(reason);
    logger.warn({ volume: known.name, node, reason }, 'detached by force: nobody looked at the node');
    events.event(known.volume, 'Warning', EVENT.forcedDetach, message);
  }
}

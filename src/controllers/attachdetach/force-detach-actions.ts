import type { KubeNode } from '../../api/core.ts';
import type { Logger } from '../../api/logger.ts';
import { EVENT } from '../../api/names.ts';
import { NODES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { Informer } from '../../kube/informer.ts';
import type { KubeClient } from '../../kube/types.ts';
import { withoutNode } from './actual-state.ts';
import type { ForcedReason, NodeFacts, ReconcileDecision } from './types.ts';
import type { VolumeState } from './volume-state.ts';

type Forced = ReconcileDecision['forced'][number];

export interface ForceDetachDeps {
  client: KubeClient;
  nodes: Informer<KubeNode>;
  events: EventRecorder;
  logger: Logger;
  factsOf(node: string, volume: Volume): NodeFacts;
  onForced?: ((reason: ForcedReason) => void) | undefined;
}

/** Side effects of a force-detach. */
export function createForceDetach({
  client,
  nodes,
  events,
  logger,
  factsOf,
  onForced,
}: ForceDetachDeps) {
  return { areStillGone, report, detachOrdered };

  /** Reports whether a live read confirms the nodes' facts, since the cache may be minutes old. */
  async function areStillGone(known: VolumeState, gone: readonly string[]): Promise<boolean> {
    let same = true;
    for (const node of gone) {
      const before = factsOf(node, known.volume);
      try {
        nodes.recordWrite(await client.get<KubeNode>(NODES, node));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        if (nodes.get(node) !== undefined) same = false;
      }
      const after = factsOf(node, known.volume);
      if (JSON.stringify(before) !== JSON.stringify(after)) same = false;
    }
    return same;
  }

  /** Force-detaches on operator request. Emits no event: the command that requested it does. */
  function detachOrdered(known: VolumeState, ordered: readonly string[]): void {
    for (const node of ordered) {
      known.entries = withoutNode(known.entries, node);
      known.unverifiedNodes.add(node);
      // The request is complete: an attachment that a later verification finds is written again.
      known.written = new Set([...known.written].filter((each) => each !== node));
      onForced?.('ordered');
      logger.warn({ volume: known.name, node }, 'force-detached on request of an operator');
    }
  }

  function report(known: VolumeState, { node, reason, message, detail }: Forced): void {
    // Verify the node when it returns, and detach what is still attached there.
    known.unverifiedNodes.add(node);
    onForced?.(reason);
    logger.warn({ volume: known.name, node, reason }, 'force-detached without verification');
    events.event(known.volume, 'Warning', EVENT.forcedDetach, message, detail);
  }
}

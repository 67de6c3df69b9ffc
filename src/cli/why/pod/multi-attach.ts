import type { KubeNode } from '../../../api/core.ts';
import { type ReasonCode, readReason } from '../../../api/reasons.ts';
import type { Attachment, Volume } from '../../../api/volume.ts';
import { isNodeReady } from '../../../model/node-health.ts';
import { foundIn, type Reading } from '../../lib/read-result.ts';
import { deletePods, endUse, inDoubt, isUse, obstructionIn } from '../attached.ts';
import { notReadyFix } from '../node.ts';
import { sentenceOf } from '../obstruction.ts';
import type { Blocker, Fix } from '../types.ts';

/**
 * Returns the blocker of a volume that another node has: a remaining mount or a silent node, else
 * the pods that need the volume there.
 * @param holderNode Node that has the volume: only this object shows whether it is Ready
 */
export function multiAttach(
  volume: Volume,
  nodeName: string,
  holder: Attachment,
  holderNode: Reading<KubeNode>,
): Blocker {
  const { node, state, pods = [], since, message, detail } = holder;
  const needed = pods.length === 0 ? '' : `, where these pods need it: ${pods.join(', ')}`;
  const what = `Volume ${volume.metadata.name} cannot be attached to node ${nodeName}: it is ${state} on node ${node}`;
  const common = { since, chain: [{ kind: 'Node', name: node }] };
  if (isAway(holder, holderNode)) {
    return {
      ...common,
      cause: 'NodeNotReady',
      holdup: `${what}, which is not Ready${needed}; it can be on one node at a time`,
      next: { when: `when node ${node} is back` },
      fix: notReadyFix(node),
    };
  }
  const found = obstructionIn(volume, holder);
  const heldWith = (fix: Fix | undefined) =>
    `${needed}${message ? ` (${sentenceOf(message, found, fix)})` : ''}; it can be on one node at a time`;
  if (state === 'Uncertain') {
    const doubt = inDoubt(volume, found, holder);
    return {
      ...common,
      holdup: `${what}, which counts as attached until the node is verified${heldWith(doubt.fix)}`,
      next: { when: 'automatically, after a backoff of up to 2 minutes' },
      ...doubt,
    };
  }
  const isHidden = readReason(detail)?.code === ('UseUnknown' satisfies ReasonCode);
  if (pods.length === 0 && (isHidden || isUse(found))) {
    return {
      ...common,
      cause: 'WaitingForUnmount',
      holdup: `${what}${heldWith(found?.fix)}`,
      next: { when: 'automatically, after a backoff of up to 2 minutes' },
      ...(found?.fix && { fix: found.fix }),
    };
  }
  if (found?.cause === 'JobRunning') {
    return {
      ...common,
      cause: found.cause,
      ...(found.fix && { fix: found.fix }),
      holdup: `${what}${heldWith(found.fix)}`,
      next: { when: `once it is detached from node ${node}` },
    };
  }
  const isUnknown = pods.length === 0 && message && found === undefined;
  return {
    ...common,
    cause: isUnknown ? 'UnknownReason' : 'MultiAttach',
    holdup: `${what}${heldWith(undefined)}`,
    next: {
      when: `once it is detached from node ${node}, which happens when no pod needs it there`,
    },
    fix: isUnknown
      ? endUse(node, pods)
      : {
          say: 'Scale down the workload that uses it there, else it creates the pods again. Then delete the pods.',
          run: deletePods(pods),
        },
  };
}

/**
 * Reports whether a node is not Ready, or missing. A Node that may not be read shows nothing; for a
 * missing one, the message of its attachment takes precedence.
 */
const isAway = ({ message }: Attachment, node: Reading<KubeNode>): boolean =>
  'absent' in node ? !message : 'found' in node && !isNodeReady(foundIn(node));

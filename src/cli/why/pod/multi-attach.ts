import type { Attachment, Volume } from '../../../api/volume.ts';
import { deletePods, isUsed, resolveDoubt, underWay, unmount } from '../attached.ts';
import { notReadyFix } from '../node.ts';
import { obstruction } from '../node-connectivity.ts';
import type { Blocker } from '../types.ts';

/** As controllers/attachdetach/attach-policy.ts says it of the node that has the volume. */
const NOT_READY = /\band is not Ready\b|\band has no Node object\b/;

/** As storage/in-use.ts and controllers/attachdetach/attacher-detacher.ts say it. */
const isHidden = (message = ''): boolean => /cannot be seen, /.test(message);

/**
 * Another node has the volume. What keeps it there may be a mount that is left, or that the node does not answer; else it is
 * the pods that need it there.
 * @param said by the daemon, to the pod that waits
 */
export function multiAttach(
  volume: Volume,
  nodeName: string,
  holder: Attachment,
  said = '',
): Blocker {
  const { node, state, pods = [], since, message } = holder;
  const needed = pods.length === 0 ? '' : `, where these pods need it: ${pods.join(', ')}`;
  const what = `Volume ${volume.metadata.name} cannot be attached to node ${nodeName}: it is ${state} on node ${node}`;
  const common = { since, chain: [{ kind: 'Node', name: node }] };
  if (NOT_READY.test(said)) {
    return {
      ...common,
      cause: 'NodeNotReady',
      holdup: `${what}${needed}, which is not Ready, and it can be on one node at a time`,
      next: { when: `when node ${node} is back` },
      fix: notReadyFix(node),
    };
  }
  const held = `${needed}${message ? ` (${message})` : ''}, and it can be on one node at a time`;
  if (state === 'Uncertain') {
    return {
      ...common,
      holdup: `${what}, which counts as attached until the node was looked at${held}`,
      next: { when: 'by itself, after a delay that grows to 2 minutes' },
      ...(obstruction(node, message ?? '') ?? {
        cause: 'AttachmentUncertain',
        fix: resolveDoubt(volume, node, message),
      }),
    };
  }
  const hidden = isHidden(message);
  if (pods.length === 0 && (hidden || isUsed(message))) {
    return {
      ...common,
      cause: 'WaitingForUnmount',
      holdup: `${what}${held}`,
      next: { when: 'by itself, after a delay that grows to 2 minutes' },
      fix: hidden ? resolveDoubt(volume, node, message) : unmount(node, message),
    };
  }
  const job = underWay(node, message);
  if (job !== undefined) {
    return {
      ...common,
      ...job,
      holdup: `${what}${held}`,
      next: { when: `once it is detached from node ${node}` },
    };
  }
  return {
    ...common,
    cause: 'MultiAttach',
    holdup: `${what}${held}`,
    next: {
      when: `once it is detached from node ${node}, which follows by itself when no pod needs it there`,
    },
    fix: {
      say: 'End what uses it there, by scaling down what made it; else the pods are made again.',
      run: deletePods(pods),
    },
  };
}

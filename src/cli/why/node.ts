import type { KubeNode } from '../../api/core.ts';
import { isDnsSubdomain } from '../../api/dns-name.ts';
import { READY_REASON } from '../../api/names.ts';
import { parametersIn } from '../../api/reasons/template.ts';
import { entryOf, type Reason, type ReasonCode } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { taintCommand } from '../../model/node-death.ts';
import { notReadySince, readyConditionOf } from '../../model/node-health.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { commandLine, onNode, recreate, retry } from '../lib/command-line.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { foundIn } from '../lib/read-result.ts';
import { forceDetachTime } from './force-detach-deadline.ts';
import { obstructionOf, sentenceOf } from './obstruction.ts';
import { isDeleting, nodeText, sinceOf } from './state.ts';
import type { Blocker, Cause, Fix, Link, VolumeFacts } from './types.ts';

const BY_ITSELF = { when: 'automatically, after a backoff of up to 5 minutes' };

/** Reports that the node does not answer, or that its answer is unclear. */
export const nodeAway: Cause = (known) => {
  const { volume, node } = known;
  const ready = readyOf(volume);
  const { nodeUnreachable, nodeUnclear } = READY_REASON;
  if (ready?.reason !== nodeUnreachable && ready?.reason !== nodeUnclear) return undefined;
  const { message = '' } = ready;
  const found = obstructionOf(ready.detail, { node: nodeOf(volume), volume });
  const common = {
    ...{ reason: found?.reason, ...sinceOf(ready) },
    ...{ next: BY_ITSELF, chain: [nodeLink(volume)] },
  };
  // A node that merely does not answer has no finer cause.
  const way = found?.cause === undefined ? undefined : found;
  const isUnreachable = found?.reason.code === ('NodeUnreachable' satisfies ReasonCode);
  const advice = isUnreachable ? undefined : found?.fix;
  if (ready.reason === nodeUnclear) {
    const fix = advice ?? {
      say: 'If this persists, check the kernel log of the node.',
      run: [ssh(volume, 'dmesg')],
    };
    return {
      ...common,
      cause: way?.cause ?? 'NodeUnclear',
      holdup: `${nodeText(volume)} answers, but the answer is inconclusive: ${sentenceOf(message, found, fix)}`,
      fix,
    };
  }
  if ('absent' in node && way === undefined) {
    const isLost = isDeleting(volume) || mayHold(volume);
    const fix = isLost
      ? lost(volume)
      : {
          say: 'Create the Volume again on an existing node (kubectl get nodes): set spec.nodeName in volume.yaml before the last command.',
          // Until a node reports otherwise, its storage counts as being provisioned, and this
          // node cannot be queried.
          run: recreate(volume, '--forget-node'),
        };
    return {
      ...common,
      cause: 'NodeMissing',
      holdup: `${nodeText(volume)} is not in this cluster, and no machine is reached under that name: ${sentenceOf(message, found, fix)}`,
      fix,
      ...(isLost && { sharedFix: bringBack(volume, advice).sharedFix }),
    };
  }
  const notReady = notReadyOf(foundIn(node));
  const timer = way === undefined ? forceDetachTime(known, nodeOf(volume)) : undefined;
  const since = notReadySince(foundIn(node));
  const [fixes, stated] = fixOfAway();
  return {
    ...common,
    ...(timer && { next: timer, ...(since && { since: new Date(since).toISOString() }) }),
    cause: way?.cause ?? (timer === undefined ? 'NodeUnreachable' : 'NodeNotReady'),
    holdup: notReached(volume, notReady, sentenceOf(message, found, stated), found?.reason),
    ...fixes,
  };

  /** Returns the fix, and the one that it includes. */
  function fixOfAway(): [fixes: Pick<Blocker, 'fix' | 'sharedFix'>, stated: Fix] {
    const first = way?.fix ?? (timer && notReadyFix(nodeOf(volume)));
    if (first !== undefined) return [{ fix: first }, first];
    const fixes = bringBack(volume, advice);
    if (!isDeleting(volume)) return [fixes, advice ?? fixes.fix];
    const fix = lost(volume);
    return [{ ...fixes, fix }, fix];
  }
};

/**
 * Returns the fixes for a node that is to answer again: for one Volume, and for all of them.
 * @param advice fix of the reason, if it has one
 */
function bringBack(
  volume: Volume,
  advice: Fix | undefined,
): Required<Pick<Blocker, 'fix' | 'sharedFix'>> {
  const advised =
    advice?.say ??
    'Bring the node back. The user of stowage watch must be able to log in without a prompt: check the node as that user, with the --ssh-config of the daemon, if it has one.';
  const say = `${advised}${advised.endsWith('.') ? '' : '.'}`;
  const run = advice?.run ?? [commandLine('stowage', 'check', 'node', nodeOf(volume))];
  return {
    fix: {
      say: `${say} Then retry the Volume, which ends the backoff.`,
      run: [...run, ...retry(volume)],
    },
    sharedFix: {
      say: `${say} The Volumes are then retried automatically, after a backoff: stowage retry volume NAME retries one at once.`,
      run,
    },
  };
}

/**
 * Returns the blocker's sentence. The message of a reason that names the node needs no prefix.
 * @param notReady report about a node that is not Ready
 */
function notReached(
  volume: Volume,
  notReady: string | undefined,
  message: string,
  reason: Reason | undefined,
): string {
  const state = notReady === undefined ? undefined : `${nodeText(volume)} is NotReady${notReady}`;
  if (reason !== undefined && namesNode(reason, nodeOf(volume)))
    return state === undefined ? message : `${state}; ${message}`;
  return `${state === undefined ? nodeText(volume) : `${state}, and`} is not reached: ${message}`;
}

const namesNode = (reason: Reason, node: string): boolean =>
  reason.parameters.node === node && parametersIn(entryOf(reason)?.message ?? '').includes('node');

/** Reports whether the Volume may hold data, which returns with the node. */
const mayHold = ({ status }: Volume): boolean =>
  status?.prepared !== undefined || status?.phase === 'Available';

export const nodeLink = (volume: Volume): Link => ({ kind: 'Node', name: nodeOf(volume) });

const ssh = (volume: Volume, command: string): string => onNode(nodeOf(volume), command);

/**
 * Returns the fix for a node that is not Ready: its volumes are force-detached after a delay, or at
 * once with the taint.
 */
export const notReadyFix = (node: string): Fix => ({
  say: `Bring node ${node} back. If it is dead, switch it off, then taint it: its volumes are force-detached at once. Remove the taint when it is back.`,
  run: [taintCommand(node)],
});

const lost = (volume: Volume): Fix => ({
  say: 'Bring the node back under that name. If it is permanently lost, delete the Volume and abandon its data there:',
  run: [commandLine('stowage', 'delete', 'volume', volume.metadata.name, '--forget-node')],
});

/** Returns the report of the kubelet, or of the node controller, about a node that is not Ready. */
function notReadyOf(node: KubeNode | undefined): string | undefined {
  const ready = readyConditionOf(node);
  if (ready === undefined || ready.status === 'True') return undefined;
  const since = ready.lastTransitionTime === undefined ? '' : ` since ${ready.lastTransitionTime}`;
  return ready.message ? `${since} (${ready.message})` : since;
}

/** Reports whether no Node has the name: a daemon may act for certain nodes only. */
export const isUnknownNode = ({ volume, node }: VolumeFacts): boolean =>
  'absent' in node && isDnsSubdomain(nodeOf(volume));

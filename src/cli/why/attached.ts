import { READY_REASON } from '../../api/names.ts';
import { NODES } from '../../api/reasons/nodes.ts';
import { readReason } from '../../api/reasons.ts';
import type { Attachment, Volume } from '../../api/volume.ts';
import { parseJobName } from '../../model/job-name.ts';
import { isOff } from '../../model/node-health.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { commandLine, forceDetachCommand, untaint } from '../lib/command-line.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { foundIn } from '../lib/read-result.ts';
import { forceDetachTime } from './force-detach-deadline.ts';
import { notReadyFix } from './node.ts';
import { type Obstruction, obstructionOf, sentenceOf } from './obstruction.ts';
import { isDeleting, nodeText, sinceOf } from './state.ts';
import type { Blocker, Cause, Fix, VolumeFacts } from './types.ts';

const WITHIN_SECONDS = {
  when: 'within seconds, if a daemon with the controller attachment runs',
};

/** Reports that the controller attachment is switched off. */
export const attachmentDisabled: Cause = ({ volume }) => {
  const ready = readyOf(volume);
  if (ready?.reason !== READY_REASON.attachmentDisabled) return undefined;
  return {
    cause: 'AttachmentDisabled',
    holdup:
      ready.message || 'the daemon neither attaches nor detaches: its controller attachment is off',
    ...sinceOf(ready),
    next: { when: 'when a daemon with the controller attachment runs' },
    fix: {
      say: 'Enable the controller attachment, which --controllers excludes.',
      daemonFlags: ['--controllers', '*'],
    },
  };
};

/** Reports whether an attachment is uncertain or fails, rather than just takes time. */
const isHeld = ({ state, message }: Attachment): boolean =>
  state === 'Uncertain' || Boolean(message);

/** Reports a device that is not where it should be, or whose place is unknown. */
export const attaching: Cause = (known) => {
  const { volume } = known;
  const ready = readyOf(volume);
  const { attachments = [], job } = volume.status ?? {};
  // A job that attaches is of an earlier version, and reports its own progress.
  const waits =
    ready?.reason === READY_REASON.attaching && parseJobName(job)?.attempt === undefined;
  // Another cause covers Volumes that are being deleted.
  if (isDeleting(volume) || (!waits && ready?.status !== 'True')) return undefined;
  const held = attachments.find(isHeld) ?? (waits ? attachments[0] : undefined);
  if (held !== undefined) return heldOn(known, held);
  if (!waits || ready === undefined) return undefined;
  const node = foundIn(known.node);
  if (node !== undefined && isOff(node)) {
    return {
      cause: 'NodeOutOfService',
      holdup:
        ready.message ||
        `its device is not attached to ${nodeText(volume)}, which is marked out of service`,
      ...sinceOf(ready),
      chain: [{ kind: 'Node', name: node.metadata.name }],
      next: { when: 'when the taint is removed, or the node is Ready' },
      fix: { say: 'Remove the taint once the node is back.', run: [untaint(node.metadata.name)] },
    };
  }
  return {
    cause: 'NotAttached',
    holdup: ready.message || `attaching its device to ${nodeText(volume)} has not started yet`,
    ...sinceOf(ready),
    next: WITHIN_SECONDS,
    fix: { say: 'Start the daemon if it is not running.', run: ['stowage watch'] },
  };
};

/** Returns the blocker for an attachment that is not in its desired state. */
export function heldOn(
  known: Pick<VolumeFacts, 'volume' | 'node' | 'storageClass'>,
  attachment: Attachment,
): Blocker {
  const { volume } = known;
  const { node, state, message, since, pods = [] } = attachment;
  const uncertain = state === 'Uncertain';
  const timer = node === nodeOf(volume) ? forceDetachTime(known, node) : undefined;
  const notReady = timer && ({ cause: 'NodeNotReady', fix: notReadyFix(node) } as const);
  const found = obstructionIn(volume, attachment);
  const blocker = uncertain
    ? inDoubt(volume, found, attachment, notReady)
    : { cause: causeOf(found, attachment), fix: found?.fix ?? endUse(node, pods) };
  const why = message ? `: ${sentenceOf(message, found, blocker.fix)}` : '';
  return {
    holdup: `its attachment to node ${node} is ${uncertain ? 'Uncertain, which counts as attached until the node is verified' : state}${why}`,
    reason: found?.reason,
    since,
    chain: [{ kind: 'Node', name: node }],
    next: timer ?? { when: 'automatically, after a backoff of up to 2 minutes' },
    ...blocker,
  };
}

/**
 * Returns the obstruction that the attachment's reason names; undefined for none or an unknown one.
 * Others may have written the reason.
 */
export const obstructionIn = (
  volume: Volume,
  { node, detail }: Attachment,
): Obstruction | undefined => obstructionOf(detail, { node, volume });

/** Returns the cause that blocks an attachment which is not Uncertain. */
function causeOf(found: Obstruction | undefined, attachment: Attachment): Blocker['cause'] {
  if (isUse(found)) return 'WaitingForUnmount';
  if (found === undefined && attachment.message) return 'UnknownReason';
  // For provisioning, `Failed` states no more than the failure.
  if (found?.cause !== undefined && found.cause !== 'Failed') return found.cause;
  return attachment.state === 'Attaching' ? 'NotAttached' : 'AttachmentFailed';
}

/** Reports whether the device is in use, or not yet released by its kubelet. */
export const isUse = (found: Obstruction | undefined): boolean =>
  found?.cause === 'DeviceInUse' || found?.cause === 'WaitingForUnmount';

/**
 * Returns cause and fix of an uncertain attachment. The connection to the node comes first, then
 * commands for a node that did answer, then how to make it answer.
 * @param found what the attachment's reason names
 * @param silent cause and fix for a node whose kubelet is silent, too
 */
export function inDoubt(
  volume: Volume,
  found: Obstruction | undefined,
  attachment: Attachment,
  silent?: Pick<Blocker, 'cause' | 'fix'>,
): Pick<Blocker, 'cause' | 'fix'> {
  const { node, detail } = attachment;
  const { cause, fix } = found ?? {};
  const isWay = Object.hasOwn(NODES, readReason(detail)?.code ?? '');
  if (isWay && cause !== undefined) return { cause, ...(fix && { fix }) };
  if (silent !== undefined) return silent;
  const isAnswer = !isWay && fix?.run !== undefined;
  return { cause: 'AttachmentUncertain', fix: isAnswer ? fix : restoreConnection(volume, node) };
}

const restoreConnection = (volume: Volume, node: string): Fix => ({
  // Not among the commands: users who paste all of them would force-detach from a live node.
  say: `Restore the connection to node ${node}. The check uses it, with the --ssh-config of the daemon, if given. Only if its machine is dead and switched off, force-detach the volume: ${forceDetachCommand(volume, node)}`,
  run: [commandLine('stowage', 'check', 'node', node)],
});

export const endUse = (node: string, pods: readonly string[]): Fix => ({
  say: `Check the log of the daemon for the volume.${pods.length === 0 ? '' : ` Pods that need it on node ${node}: ${pods.join(', ')}.`}`,
});

/** Returns commands that delete pods, given as `namespace/name`: one for each namespace. */
export function deletePods(pods: readonly string[]): string[] {
  const byNamespace = Map.groupBy(pods, (pod) => pod.split('/')[0] ?? '');
  return [...byNamespace].map(([namespace, all]) =>
    commandLine(
      'kubectl',
      'delete',
      'pod',
      '-n',
      namespace,
      ...all.map((pod) => pod.split('/')[1] ?? ''),
    ),
  );
}

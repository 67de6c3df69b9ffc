import { READY_REASON } from '../../api/names.ts';
import type { Attachment, Volume } from '../../api/volume.ts';
import { nodeOf } from '../../model/desired-volume.ts';
import { parseJobName } from '../../model/job-name.ts';
import { isOff } from '../../model/node-health.ts';
import { commandText } from '../../nodes/quote.ts';
import { commandIn } from '../../storage/holders.ts';
import { commandLine, forceDetachCommand, onNode, untaint } from '../lib/command-line.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { foundIn } from '../lib/read-result.ts';
import { forceDetachTime } from './force-detach-deadline.ts';
import { notReadyFix } from './node.ts';
import { obstruction } from './node-connectivity.ts';
import { refusedBy } from './refused.ts';
import { isDeleting, nodeText, sinceOf } from './state.ts';
import type { Blocker, Cause, Fix, VolumeFacts } from './types.ts';

const WITHIN_SECONDS = {
  when: 'within seconds, where a daemon with the controller attachment runs',
};

/** What would attach or detach it is switched off. */
export const attachmentDisabled: Cause = ({ volume }) => {
  const ready = readyOf(volume);
  if (ready?.reason !== READY_REASON.attachmentDisabled) return undefined;
  return {
    cause: 'AttachmentDisabled',
    holdup:
      ready.message || 'the daemon neither attaches nor detaches: its controller attachment is off',
    ...sinceOf(ready),
    next: { when: 'when a daemon runs that has the controller attachment' },
    fix: {
      say: 'Run the daemon with that controller, which --controllers leaves out.',
      daemonFlags: ['--controllers', '*'],
    },
  };
};

/** One that is not known, or does not come to an end. What takes its time only is none. */
const isHeld = ({ state, message }: Attachment): boolean =>
  state === 'Uncertain' || Boolean(message);

/** Its device is not where it is to be, or it is not known where it is. */
export const attaching: Cause = (known) => {
  const { volume } = known;
  const ready = readyOf(volume);
  const { attachments = [], job } = volume.status ?? {};
  // A job that attaches is of an earlier version, and tells how far it is.
  const waits =
    ready?.reason === READY_REASON.attaching && parseJobName(job)?.attempt === undefined;
  // Of what is being deleted, another cause tells.
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
        `its device is not attached to ${nodeText(volume)}, which is said to be off`,
      ...sinceOf(ready),
      chain: [{ kind: 'Node', name: node.metadata.name }],
      next: { when: 'when the taint is taken off, or the node is Ready' },
      fix: { say: 'Take the taint off once the node is back.', run: [untaint(node.metadata.name)] },
    };
  }
  return {
    cause: 'NotAttached',
    holdup:
      ready.message ||
      `its device is not attached to ${nodeText(volume)}, and that is not begun yet`,
    ...sinceOf(ready),
    next: WITHIN_SECONDS,
    fix: { say: 'See that the daemon runs.', run: ['stowage watch'] },
  };
};

/** What to say of an attachment that is not as it is to be. */
export function heldOn(
  known: Pick<VolumeFacts, 'volume' | 'node' | 'storageClass'>,
  attachment: Attachment,
): Blocker {
  const { volume } = known;
  const { node, state, message, since, pods = [] } = attachment;
  const why = message ? `: ${message}` : '';
  const uncertain = state === 'Uncertain';
  const timer = node === nodeOf(volume) ? forceDetachTime(known, node) : undefined;
  const notReady = timer && ({ cause: 'NodeNotReady', fix: notReadyFix(node) } as const);
  return {
    holdup: `its attachment to node ${node} is ${uncertain ? 'Uncertain, which counts as attached until the node was looked at' : state}${why}`,
    since,
    chain: [{ kind: 'Node', name: node }],
    next: timer ?? { when: 'by itself, after a delay that grows to 2 minutes' },
    ...(uncertain
      ? (obstruction(node, message ?? '') ??
        notReady ?? { cause: 'AttachmentUncertain', fix: resolveDoubt(volume, node, message) })
      : (underWay(node, message) ??
        (isUsed(message)
          ? { cause: 'WaitingForUnmount', fix: unmount(node, message) }
          : {
              cause:
                refusedBy(volume, message ?? '')?.cause ??
                (state === 'Attaching' ? 'NotAttached' : 'AttachmentFailed'),
              fix: endUse(node, pods),
            }))),
  };
}

/** As storage/detach-checks.ts and storage/kubelet.ts say it. */
export const isUsed = (message = ''): boolean =>
  / is in use: |the kubelet (?:still )?has /.test(message);

/** As controllers/attachdetach/operation-executor.ts says it, of what takes long. */
const UNDER_WAY = /^its job is under way: /;
const WAITS = /^waits until others have ended$/;

/** A job that may hang, or one that waits for others that do; undefined where the message tells of something else. */
export function underWay(node: string, message = ''): Pick<Blocker, 'cause' | 'fix'> | undefined {
  if (WAITS.test(message)) {
    const say =
      'See what the others wait for: so many are attached, and detached, at once on a node and in all.';
    return { cause: 'JobRunning', fix: { say, run: ['stowage get attachments -o wide'] } };
  }
  if (!UNDER_WAY.test(message)) return undefined;
  const say = `Let it end. If it stays at that step, see what the programs on node ${node} wait for, such as a file server that does not answer.`;
  return { cause: 'JobRunning', fix: { say, run: [onNode(node, 'ps', 'axl')] } };
}

/** Ends a use. The kubelet unmounts what pods had, and is only to be let do it. */
export function unmount(node: string, message = ''): Fix {
  const command = commandIn(message);
  if (command !== undefined) return endHolder(node, command);
  // As storage/in-use.ts says it.
  const [, open] = /(\/dev\/[a-z0-9-]+) is in use: a process has it open/.exec(message) ?? [];
  if (open !== undefined) return endHolder(node, commandText('fuser', '-v', open));
  const [, below] =
    /(\/dev\/[a-z0-9-]+) is in use: another loop device is stacked on it/.exec(message) ?? [];
  if (below !== undefined) {
    return {
      say: 'The kubelet detaches its own loop device once no container of the pod runs any more. If nobody needs what is on it, detach what this lists, by losetup -d:',
      run: [onNode(node, 'losetup', '-j', below)],
    };
  }
  if (/mounted where no process shows it/.test(message)) {
    return {
      say: 'End what has a file open there, or works in a folder there, or take off the mount namespace that is kept; such are listed by:',
      run: [onNode(node, 'findmnt', '-t', 'nsfs')],
    };
  }
  return {
    say: 'The kubelet unmounts it once no container of the pod runs any more. If that lasts, see what it says:',
    run: [onNode(node, 'journalctl', '-u', 'kubelet', '-n', '50', '--no-pager')],
  };
}

/** The command is one that a node's observation gave, quoted for a shell there. */
export const endHolder = (node: string, command: string): Fix =>
  command.startsWith('fuser ')
    ? {
        say: 'End the program that has it open; this lists it.',
        run: [commandLine('ssh', node, command)],
      }
    : {
        say: 'If nobody needs what is on it, end that use. It is detached by itself then, or the next use is named.',
        run: [commandLine('ssh', node, command)],
      };

/** As storage/ says it of a node that did answer: what is to be done there, and with what it can be seen. */
const ANSWERED: readonly (readonly [pattern: RegExp, say: string, look: readonly string[]])[] = [
  [
    /goes (?:with|when) its last user/,
    'End what still uses the device there; it goes with its last user.',
    ['losetup', '-l'],
  ],
  [
    /cannot be seen, |a job of this Volume still runs/,
    'See what the programs there wait for, such as a file server that does not answer.',
    ['ps', 'axl'],
  ],
  [
    /: wanted is an NFS|which the persistent path leads to|does not say who has|is attached more than once/,
    'Put right what the message names.',
    ['findmnt'],
  ],
];

/** What to do where it is not known whether a node has the volume. */
export function resolveDoubt(volume: Volume, node: string, message = ''): Fix {
  const answered = ANSWERED.find(([pattern]) => pattern.test(message));
  if (answered === undefined) return lookAt(volume, node);
  const [, say, look] = answered;
  return { say, run: [onNode(node, ...look)] };
}

const lookAt = (volume: Volume, node: string): Fix => ({
  // Not beside the look: who pastes both lets go of what a node has that is not dead.
  say: `Have node ${node} answer. Only if the machine is dead, and switched off, have it let go: ${forceDetachCommand(volume, node)}`,
  run: [onNode(node, 'true')],
});

const endUse = (node: string, pods: readonly string[]): Fix => ({
  say: `Put right what the message names${pods.length === 0 ? '' : `; pods that need it on node ${node}: ${pods.join(', ')}`}.`,
});

/** What ends pods, given as `namespace/name`: a command for each namespace. */
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

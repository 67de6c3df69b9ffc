import { OUT_OF_SERVICE_TAINT } from '../../../api/names.ts';
import { isPaused } from '../../../api/paused.ts';
import { addressProblems } from '../../../model/node-address.ts';
import { taintCommand } from '../../../model/node-death.ts';
import { isOff, readyConditionOf } from '../../../model/node-health.ts';
import { resumeCommand } from '../../../model/pause.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import { commandLine, untaint } from '../../lib/command-line.ts';
import { foundIn } from '../../lib/read-result.ts';
import { diagnose } from '../diagnose.ts';
import { nodeAway } from '../node.ts';
import { type Blocker, type Diagnosis, forAll, through } from '../types.ts';
import type { NodeObjectFacts } from './read.ts';

/** Check for one possible blocker of work on a node. `now` is in ms since the epoch. */
type NodeCause = (known: NodeObjectFacts, now: number) => Blocker | undefined;

/** Maximum number of commands, one for each Volume. */
const SHOWN = 5;

const missing: NodeCause = ({ name, node, volumes }) => {
  const all = foundIn(volumes) ?? [];
  if (!('absent' in node) || all.length === 0) return undefined;
  const names = all.map(({ metadata }) => metadata.name);
  // The data of Volumes that are only attached there is on other nodes.
  const lost = all.filter((volume) => nodeOf(volume) === name);
  return {
    cause: 'NodeMissing',
    holdup: `there is no Node ${name} in this cluster, and ${names.length === 1 ? 'a Volume is' : `${names.length} Volumes are`} on it: ${names.slice(0, SHOWN).join(', ')}`,
    next: { when: 'when its kubelet registers it again' },
    fix: {
      say: `Bring the node back under that name.${lost.length === 0 ? '' : ' If it is permanently lost, delete its Volumes and abandon their data there:'}`,
      run: lost
        .slice(0, SHOWN)
        .map(({ metadata: { name: volume } }) =>
          commandLine('stowage', 'delete', 'volume', volume, '--forget-node'),
        ),
    },
  };
};

const paused: NodeCause = ({ name, node }) =>
  isPaused(foundIn(node))
    ? {
        cause: 'Paused',
        holdup: 'it is paused: nothing is written there',
        next: { when: 'when it is resumed' },
        fix: {
          say: 'End the pause once its reason is gone.',
          run: [resumeCommand('node', name)],
        },
      }
    : undefined;

const address: NodeCause = ({ name, node }) => {
  const [problem] = addressProblems(foundIn(node));
  return problem === undefined
    ? undefined
    : {
        cause: 'AddressInvalid',
        holdup: problem.message,
        next: { when: 'when the annotation is changed' },
        fix: {
          say: 'Correct the annotation, or remove it:',
          run: [commandLine('kubectl', 'annotate', 'node', name, `${problem.annotation}-`)],
        },
      };
};

/** Reports that the last observation of one of the node's Volumes failed. */
const away: NodeCause = ({ first }, now) => {
  const found = first && nodeAway(first, now);
  if (found === undefined) return undefined;
  const { chain: _, ...holdup } = forAll(found);
  return holdup;
};

const outOfService: NodeCause = ({ name, node: read }) => {
  const node = foundIn(read);
  const taint = node?.spec?.taints?.find(({ key }) => key === OUT_OF_SERVICE_TAINT);
  return node === undefined || taint === undefined
    ? undefined
    : {
        cause: 'NodeOutOfService',
        holdup: isOff(node)
          ? `it has the taint ${OUT_OF_SERVICE_TAINT}, which declares it off: volumes that were attached there are force-detached`
          : `it is Ready, and has the taint ${OUT_OF_SERVICE_TAINT}: no volume is force-detached, and pods that do not tolerate it are evicted`,
        next: { when: 'when the taint is removed' },
        fix: {
          say: 'Remove the taint once the node is back.',
          run: [untaint(name)],
        },
      };
};

const notReady: NodeCause = ({ name, node, volumes }) => {
  const ready = readyConditionOf(foundIn(node));
  if (ready === undefined || ready.status === 'True') return undefined;
  const there = (foundIn(volumes) ?? []).filter(({ status }) =>
    status?.attachments?.some((each) => each.node === name),
  );
  const held =
    there.length === 0
      ? ''
      : `; attached there: ${there
          .slice(0, SHOWN)
          .map(({ metadata }) => metadata.name)
          .join(', ')}`;
  return {
    cause: 'NodeNotReady',
    holdup: `it is not Ready${ready.message ? `: ${ready.message}` : ''}${held}`,
    ...(ready.lastTransitionTime && { since: ready.lastTransitionTime }),
    next: { when: 'when its kubelet reports Ready again' },
    fix: {
      say: 'Bring the node back, and check that its kubelet runs. If it is dead, switch it off, then taint it: its volumes are force-detached.',
      run: [taintCommand(name)],
    },
  };
};

/** Reports a blocker of one of the node's Volumes that is not about the node. */
const itsVolume: NodeCause = ({ first }, now) => {
  if (first === undefined) return undefined;
  const { name } = first.volume.metadata;
  const diagnosis = diagnose(first, now);
  if ('nothing' in diagnosis) return undefined;
  return through(
    { kind: 'Volume', name },
    { ...diagnosis, holdup: `its Volume ${name}: ${diagnosis.holdup}` },
  );
};

/** Causes in order: each one makes the later ones irrelevant. */
const CAUSES: readonly NodeCause[] = [
  missing,
  paused,
  address,
  outOfService,
  away,
  notReady,
  itsVolume,
];

/** Returns the first blocker of a node or its Volumes. Pure. `now` is in ms since the epoch. */
export function diagnoseNode(known: NodeObjectFacts, now: number): Diagnosis {
  for (const cause of CAUSES) {
    const found = cause(known, now);
    if (found !== undefined) return found;
  }
  const { length } = foundIn(known.volumes) ?? [];
  const what =
    length === 0
      ? 'no Volume is on it'
      : `${length} ${length === 1 ? 'Volume is' : 'Volumes are'} on it`;
  return {
    nothing: `Node ${known.name}: no problem is known; ${what}. To check the node itself, run: ${commandLine('stowage', 'check', 'node', known.name)}`,
  };
}

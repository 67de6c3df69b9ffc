import type { KubeNode, PersistentVolumeClaim } from '../../../api/core.ts';
import { isDnsSubdomain } from '../../../api/dns-name.ts';
import type { ReasonCode } from '../../../api/reasons.ts';
import { VOLUME_SNAPSHOT_LINKS } from '../../../api/resources.ts';
import { sourceReference } from '../../../model/data-source/reference.ts';
import type { Obstacle } from '../../../model/data-source/types.ts';
import { isNodeReady } from '../../../model/node-health.ts';
import { commandLine } from '../../lib/command-line.ts';
import { foundIn } from '../../lib/read-result.ts';
import { GATE_ON } from '../fixes/claims.ts';
import { obstructionOf } from '../obstruction.ts';
import type { Blocker, Fix } from '../types.ts';
import type { ClaimFacts } from './facts.ts';

/** Reports a source that is missing, not ready, not granted, or unsuitable. */
export function source(known: ClaimFacts): Blocker | undefined {
  const { claim, source: found, volume } = known;
  // The source was used: later changes to it, or to its grant, no longer block the new volume.
  if (foundIn(volume) !== undefined) return undefined;
  const { creationTimestamp } = claim.metadata;
  const since = creationTimestamp === undefined ? {} : { since: creationTimestamp };
  if (found === undefined || 'none' in found || 'ready' in found || 'forbidden' in found)
    return undefined;
  if ('other' in found) {
    // Facts about the populator are more precise.
    if (known.population?.definitions.length) return undefined;
    const { group, objectKind, name } = found.other;
    if (group === VOLUME_SNAPSHOT_LINKS.group && objectKind === VOLUME_SNAPSHOT_LINKS.kind) {
      return {
        cause: 'ForeignPopulator',
        holdup: `it is to start from ${objectKind} ${name}, and the daemon leaves those to another populator (--cross-namespace-snapshot=false)`,
        ...since,
        next: { when: 'when that has filled a volume' },
        fix: {
          say: 'Have the daemon follow VolumeSnapshotLinks, or see that a populator of them runs.',
          daemonFlags: ['--cross-namespace-snapshot=true'],
        },
      };
    }
    const versioned = group.includes('/') ? `, whose group is written with a version` : '';
    return {
      cause: 'ForeignPopulator',
      holdup: `it is to start from ${objectKind} ${name} of group ${JSON.stringify(group)}${versioned}, which is for another populator`,
      ...since,
      next: { when: 'when that has filled a volume' },
      fix: {
        say: 'See that a populator of that kind runs, and what it says.',
        run: [
          'kubectl get volumepopulators',
          commandLine(
            'kubectl',
            'describe',
            'pvc',
            claim.metadata.name,
            '-n',
            claim.metadata.namespace ?? '',
          ),
        ],
      },
    };
  }
  const final = 'refuse' in found;
  const obstacle = final ? found.refuse : found.wait;
  return {
    // All other reasons are of kinds that are not registered as they should be.
    cause: obstructionOf(obstacle.reason, { node: '' })?.cause ?? 'ForeignPopulator',
    reason: obstacle.reason,
    ...chainTo(known, obstacle),
    holdup: `${obstacle.refusal}${nearest(known)}`,
    ...since,
    next: { when: whenOf(known, obstacle, final) },
    fix: fixOf(known, obstacle, final),
  };
}

/** Returns the object that the claim waits for, if it has a name. */
function chainTo(known: ClaimFacts, { on, referent }: Obstacle): Pick<Blocker, 'chain'> {
  const first = referent ?? on.find(({ name }) => name !== undefined);
  if (first?.name === undefined) return {};
  const { namespace, name } = first;
  const kind = kindOf(known, first.kind);
  return { chain: [{ kind, ...(namespace === undefined ? {} : { namespace }), name }] };
}

/** Returns the kind of an object; for a populator's source, the kind that the claim names. */
const kindOf = ({ claim }: ClaimFacts, kind: string): string =>
  kind === 'PopulatorSource' ? (sourceReference(claim)?.kind ?? kind) : kind;

/** Returns the grant that nearly allows the reference, as text. */
function nearest({ misses: [miss] }: ClaimFacts): string {
  return miss === undefined
    ? ''
    : ` (ReferenceGrant ${miss.namespace}/${miss.name} nearly allows it: ${miss.wrong.join('; ')})`;
}

function whenOf(known: ClaimFacts, { on }: Obstacle, final: boolean): string {
  if (final) return 'never, as the claim is';
  const objects = on.map(({ kind, namespace, name }) => {
    const where = namespace === undefined ? '' : `${namespace}/`;
    if (name !== undefined) return `${kindOf(known, kind)} ${where}${name}`;
    return namespace === undefined ? `a ${kind}` : `a ${kind} of namespace ${namespace}`;
  });
  return objects.length === 0
    ? 'when that is changed'
    : `at once, when ${objects.join(', or ')} changes`;
}

function fixOf(
  known: ClaimFacts,
  { reason, refusal, hint, on, referent }: Obstacle,
  final: boolean,
): Fix {
  const code = reason.code as ReasonCode;
  const { claim } = known;
  const { name, namespace = '' } = claim.metadata;
  const [first] = on;
  if (code === 'GateOff') return GATE_ON;
  if (code === 'LinksNotRegistered')
    return {
      say: 'Have an administrator allow VolumeSnapshotLinks; the claim goes on at once.',
      run: ['stowage install --components populator-crds'],
    };
  if (code === 'SourceDropped')
    return { say: hint, run: [commandLine('kubectl', 'delete', 'pvc', name, '-n', namespace)] };
  if (final) {
    const asLarge = code === 'SmallerThanSnapshot' && first !== undefined;
    return {
      say: `${refusal[0]?.toUpperCase()}${refusal.slice(1)}: delete the claim, and make it anew so that it fits${asLarge ? ', such as with the size of the snapshot' : ''}.`,
      run: [
        commandLine('kubectl', 'delete', 'pvc', name, '-n', namespace),
        ...(asLarge ? [restore(claim, `${first.namespace}/${first.name}`)] : []),
      ],
    };
  }
  // A name that no snapshot can have cannot be granted.
  const isOne = referent?.kind === 'VolumeSnapshot' && isDnsSubdomain(referent.name);
  if (code === 'SnapshotGrantMissing' && isOne) {
    const links = on.some(({ kind }) => kind === 'VolumeSnapshotLink') ? 'links' : 'claims';
    const { namespace: theirs, name: snapshot } = referent;
    return {
      say: `Have whoever may write in namespace ${theirs} allow it:`,
      run: [
        commandLine(
          'stowage',
          'grant',
          'snapshot',
          `${theirs}/${snapshot}`,
          '--to',
          namespace,
          '--for',
          links,
        ),
      ],
    };
  }
  const missing = on.find(({ kind }) => kind === 'PopulatorSource');
  const isMissing = code === 'SourceMissing';
  if ((isMissing || code === 'SourceBeingDeleted') && missing !== undefined) {
    const what = kindOf(known, missing.kind);
    return {
      say: `Create the ${what} ${missing.name} in namespace ${missing.namespace}; the claim goes on at once.`,
    };
  }
  if (isMissing && first?.kind === 'VolumeSnapshotLink')
    return {
      say: `Create the VolumeSnapshotLink ${first.name} in namespace ${namespace}, which says where the snapshot is.`,
    };
  if (first?.kind === 'VolumeSnapshot' && isMissing) {
    return {
      say: 'Take the snapshot.',
      run: [
        `${commandLine('stowage', 'create', 'snapshot', `${first.namespace}/${first.name}`)} --pvc CLAIM`,
      ],
    };
  }
  if (first?.kind === 'VolumeSnapshot') {
    return {
      say: 'See what holds the snapshot up.',
      run: [commandLine('stowage', 'why', 'snapshot', `${first.namespace}/${first.name}`)],
    };
  }
  if (first?.kind === 'PersistentVolumeClaim' && !isMissing) {
    return {
      say: 'See what holds that claim up.',
      run: [commandLine('stowage', 'why', 'pvc', `${first.namespace}/${first.name}`)],
    };
  }
  return { say: hint || 'Put right what the message names.' };
}

/** Returns the command for the same claim, with the size that the snapshot needs. */
function restore(
  { metadata: { namespace, name }, spec }: PersistentVolumeClaim,
  snapshot: string,
): string {
  const { accessModes = [], storageClassName = '' } = spec;
  const modes = accessModes.length === 0 ? [] : ['--access-mode', accessModes.join(',')];
  const to = ['--to', `${namespace}/${name}`, '--storage-class', storageClassName];
  return commandLine('stowage', 'restore', 'snapshot', snapshot, ...to, ...modes);
}

/** Reports a source whose nodes are all missing or not Ready. */
export function sourceAway({ claim, sourceNodes = [], volume }: ClaimFacts): Blocker | undefined {
  const away = sourceNodes.filter(({ node }) => 'absent' in node || isNotReady(foundIn(node)));
  const [first] = away;
  if (first === undefined || away.length < sourceNodes.length || foundIn(volume) !== undefined)
    return undefined;
  const { creationTimestamp } = claim.metadata;
  const isGone = away.every(({ node }) => 'absent' in node);
  const states = away.map(({ name, node }) =>
    'absent' in node ? `there is no node ${name}` : `node ${name} is not Ready`,
  );
  return {
    cause: isGone ? 'NodeMissing' : 'NodeNotReady',
    holdup: `what it is to start from is on node ${away.map(({ name }) => name).join(', ')} alone: ${states.join(', ')}`,
    ...(creationTimestamp === undefined ? {} : { since: creationTimestamp }),
    next: { when: isGone ? 'when a node of that name has joined' : 'when that node is Ready' },
    fix: isGone
      ? {
          say: 'Have the node join again under its name, or have the claim start from something else, such as a backup.',
          run: ['kubectl get nodes'],
        }
      : {
          say: 'Bring the node back: the claim goes on by itself.',
          run: [commandLine('stowage', 'why', 'node', first.name)],
        },
  };
}

const isNotReady = (node: KubeNode | undefined): boolean =>
  node !== undefined && !isNodeReady(node);

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
        holdup: `its data source is ${objectKind} ${name}, which the daemon leaves to another populator (--cross-namespace-snapshot=false)`,
        ...since,
        next: { when: 'when that populator has filled a volume' },
        fix: {
          say: 'Enable VolumeSnapshotLinks in the daemon, or run a populator for them.',
          daemonFlags: ['--cross-namespace-snapshot=true'],
        },
      };
    }
    const versioned = group.includes('/') ? `, whose group contains a version` : '';
    return {
      cause: 'ForeignPopulator',
      holdup: `its data source is ${objectKind} ${name} of group ${JSON.stringify(group)}${versioned}, which is for another populator`,
      ...since,
      next: { when: 'when that populator has filled a volume' },
      fix: {
        say: 'Check that a populator of that kind runs, and the events of the claim.',
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
  if (final) return 'never: the claim must be created again';
  const objects = on.map(({ kind, namespace, name }) => {
    const where = namespace === undefined ? '' : `${namespace}/`;
    if (name !== undefined) return `${kindOf(known, kind)} ${where}${name}`;
    return namespace === undefined ? `a ${kind}` : `a ${kind} of namespace ${namespace}`;
  });
  return objects.length === 0
    ? 'when that changes'
    : `at once, when ${objects.join(', or ')} changes`;
}

function fixOf(known: ClaimFacts, { reason, hint, on, referent }: Obstacle, final: boolean): Fix {
  const code = reason.code as ReasonCode;
  const { claim } = known;
  const { name, namespace = '' } = claim.metadata;
  const [first] = on;
  if (code === 'GateOff') return GATE_ON;
  if (code === 'LinksNotRegistered')
    return {
      say: 'Ask an administrator to allow VolumeSnapshotLinks. The claim then proceeds at once.',
      run: ['stowage install --components populator-crds'],
    };
  if (code === 'SourceDropped')
    return { say: hint, run: [commandLine('kubectl', 'delete', 'pvc', name, '-n', namespace)] };
  if (final) {
    const asLarge = code === 'SmallerThanSnapshot' && first !== undefined;
    return {
      say: asLarge
        ? 'Delete the claim, and create it again with at least the size of the snapshot.'
        : 'Delete the claim, and create a valid one.',
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
      say: `Ask a user with write access to namespace ${theirs} to grant it:`,
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
      say: `Create ${what} ${missing.name} in namespace ${missing.namespace}. The claim then proceeds at once.`,
    };
  }
  if (isMissing && first?.kind === 'VolumeSnapshotLink')
    return {
      say: `Create VolumeSnapshotLink ${first.name} in namespace ${namespace}, with the snapshot as its source, as docs/grants.md shows.`,
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
      say: 'Find out what holds up the snapshot.',
      run: [commandLine('stowage', 'why', 'snapshot', `${first.namespace}/${first.name}`)],
    };
  }
  if (first?.kind === 'PersistentVolumeClaim' && !isMissing) {
    return {
      say: 'Find out what holds up that claim.',
      run: [commandLine('stowage', 'why', 'pvc', `${first.namespace}/${first.name}`)],
    };
  }
  return { say: hint || 'Check the object that the claim waits for.' };
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
    holdup: `its source is only on node ${away.map(({ name }) => name).join(', ')}: ${states.join(', ')}`,
    ...(creationTimestamp === undefined ? {} : { since: creationTimestamp }),
    next: { when: isGone ? 'when a node of that name joins' : 'when that node is Ready' },
    fix: isGone
      ? {
          say: 'Join the node again under its name, or create the claim from another source, such as a backup.',
          run: ['kubectl get nodes'],
        }
      : {
          say: 'Bring the node back. The claim then proceeds.',
          run: [commandLine('stowage', 'why', 'node', first.name)],
        },
  };
}

const isNotReady = (node: KubeNode | undefined): boolean =>
  node !== undefined && !isNodeReady(node);

import type { Obstacle } from '../../../provisioning/sources/types.ts';
import { commandLine } from '../command-line.ts';
import type { Fix, Holdup } from '../types.ts';
import type { ClaimKnown } from './known.ts';

/** What it is to start from is not there, not ready, not granted, or does not fit. */
export function source(known: ClaimKnown): Holdup | undefined {
  const { claim, source: found } = known;
  const { creationTimestamp } = claim.metadata;
  const since = creationTimestamp === undefined ? {} : { since: creationTimestamp };
  if (found === undefined || 'none' in found || 'ready' in found || 'forbidden' in found) return undefined;
  if ('other' in found) {
    const { group, objectKind, name } = found.other;
    const versioned = group.includes('/') ? `, whose group is written with a version` : '';
    return {
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
    holdup: `${obstacle.message}${nearest(known)}`,
    ...since,
    next: { when: whenOf(obstacle, final) },
    fix: fixOf(known, obstacle, final),
  };
}

/** The grant that nearly allows it. */
function nearest({ misses: [miss] }: ClaimKnown): string {
  return miss === undefined
    ? ''
    : ` (ReferenceGrant ${miss.namespace}/${miss.name} nearly allows it: ${miss.wrong.join('; ')})`;
}

function whenOf({ on }: Obstacle, final: boolean): string {
  if (final) return 'never, as the claim is';
  const objects = on.map(({ kind, namespace, name }) => {
    const where = namespace === undefined ? '' : `${namespace}/`;
    return name === undefined ? `a ${kind} of namespace ${namespace}` : `${kind} ${where}${name}`;
  });
  return objects.length === 0 ? 'when that is changed' : `at once, when ${objects.join(', or ')} changes`;
}

function fixOf(
  { claim }: ClaimKnown,
  { reason, hint, on, referent, message }: Obstacle,
  final: boolean,
): Fix {
  const { name, namespace = '' } = claim.metadata;
  const [first] = on;
  if (reason === 'Dropped' && hint !== undefined)
    return { say: hint, run: [commandLine('kubectl', 'delete', 'pvc', name, '-n', namespace)] };
  if (final) {
    return {
      say: `${message[0]?.toUpperCase()}${message.slice(1)}: delete the claim, and make it anew so that it fits.`,
      run: [commandLine('kubectl', 'delete', 'pvc', name, '-n', namespace)],
    };
  }
  if (reason === 'NotAllowed' && referent?.kind === 'VolumeSnapshot') {
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
  if (reason === 'NotFound' && first?.kind === 'VolumeSnapshotLink')
    return {
      say: `Create the VolumeSnapshotLink ${first.name} in namespace ${namespace}, which says where the snapshot is.`,
    };
  if (first?.kind === 'VolumeSnapshot' && reason === 'NotFound') {
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
  if (first?.kind === 'PersistentVolumeClaim' && reason !== 'NotFound') {
    return {
      say: 'See what holds that claim up.',
      run: [commandLine('stowage', 'why', 'pvc', `${first.namespace}/${first.name}`)],
    };
  }
  return { say: hint ?? 'Put right what the message names.' };
}

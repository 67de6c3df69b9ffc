import { SNAPSHOT_FINALIZERS } from '../../../api/names.ts';
import { foundIn } from '../../volume/reading.ts';
import { commandLine } from '../command-line.ts';
import { foreignFinalizers, isForeign } from '../deleting.ts';
import type { Holdup } from '../types.ts';
import type { ClaimKnown } from './known.ts';

/** What keeps a claim that is being deleted. */
export function deletingClaim({ claim, pods }: ClaimKnown): Holdup | undefined {
  const { namespace = '', name, finalizers = [], deletionTimestamp: since } = claim.metadata;
  if (since === undefined) return undefined;
  const using = (foundIn(pods) ?? []).map((pod) => pod.metadata.name);
  if (using.length > 0) {
    return {
      cause: 'PodsHoldDeletion',
      holdup: `it is being deleted, and these pods use it: ${using.join(', ')}`,
      since,
      next: { when: 'when the pods are gone' },
      fix: {
        say: 'End the pods, by scaling down what made them; else they are made again.',
        run: [commandLine('kubectl', 'delete', 'pod', '-n', namespace, ...using)],
      },
    };
  }
  const foreign = finalizers.filter(isForeign);
  const isSource = finalizers.includes(SNAPSHOT_FINALIZERS.claimAsSource);
  return {
    cause: isSource ? 'UsedAsSource' : 'ForeignFinalizer',
    holdup: isSource
      ? 'it is being deleted, and a snapshot is being taken of it, or another claim is made from it'
      : `it is being deleted, and held by its finalizers ${finalizers.join(', ')}`,
    since,
    next: { when: isSource ? 'when that is done' : 'when they are taken off' },
    fix: isSource
      ? {
          say: 'See what is not ready.',
          run: [commandLine('stowage', 'get', 'snapshots', '-n', namespace)],
        }
      : foreign.length > 0
        ? foreignFinalizers(['pvc', name, '-n', namespace], finalizers, foreign)
        : {
            say: 'Kubernetes takes these off by itself. If it does not, see what is said of the claim.',
            run: [commandLine('kubectl', 'describe', 'pvc', name, '-n', namespace)],
          },
  };
}

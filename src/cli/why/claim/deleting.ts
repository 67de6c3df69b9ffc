import { SNAPSHOT_FINALIZERS } from '../../../api/names.ts';
import { commandLine } from '../../lib/command-line.ts';
import { foundIn } from '../../lib/read-result.ts';
import { heldByFinalizers } from '../deleting.ts';
import type { Blocker } from '../types.ts';
import type { ClaimFacts } from './facts.ts';

/** Reports what blocks the deletion of a claim. */
export function deletingClaim({ claim, pods }: ClaimFacts): Blocker | undefined {
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
  if (finalizers.includes(SNAPSHOT_FINALIZERS.claimAsSource)) {
    return {
      cause: 'UsedAsSource',
      holdup:
        'it is being deleted, and a snapshot is being taken of it, or another claim is made from it',
      since,
      next: { when: 'when that is done' },
      fix: {
        say: 'See what is not ready.',
        run: [commandLine('stowage', 'get', 'snapshots', '-n', namespace)],
      },
    };
  }
  return {
    holdup: `it is being deleted, and held by its finalizers ${finalizers.join(', ')}`,
    since,
    next: { when: 'when they are taken off' },
    ...heldByFinalizers(['pvc', name, '-n', namespace], finalizers),
  };
}

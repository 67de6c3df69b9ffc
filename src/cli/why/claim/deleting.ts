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
        say: 'Scale down the workload of the pods, else it creates them again. Then delete the pods.',
        run: [commandLine('kubectl', 'delete', 'pod', '-n', namespace, ...using)],
      },
    };
  }
  if (finalizers.includes(SNAPSHOT_FINALIZERS.claimAsSource)) {
    return {
      cause: 'UsedAsSource',
      holdup: 'it is being deleted, and is the source of an unfinished snapshot or claim',
      since,
      next: { when: 'when that snapshot or claim is ready' },
      fix: {
        say: 'Check which snapshots of the namespace are not ready.',
        run: [commandLine('stowage', 'get', 'snapshots', '-n', namespace)],
      },
    };
  }
  return {
    holdup: `it is being deleted, and waits for the finalizers ${finalizers.join(', ')}`,
    since,
    next: { when: 'when they are removed' },
    ...heldByFinalizers(['pvc', name, '-n', namespace], finalizers),
  };
}

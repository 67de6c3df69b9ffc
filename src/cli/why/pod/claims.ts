import type { PersistentVolumeClaim } from '../../../api/core.ts';
import { commandLine } from '../../lib/command-line.ts';
import { foundIn } from '../../lib/read-result.ts';
import { refusedAttributes } from '../claim/attributes.ts';
import { bypassed } from '../claim/bypassed.ts';
import { ofPod } from '../claim/diagnose.ts';
import { type Blocker, type Link, through } from '../types.ts';
import type { PodFacts } from './facts.ts';
import { reasonOf } from './supply.ts';

/** Reports a claim that the pod names and that does not exist. */
export function missingClaim({ pod, volumes }: PodFacts): Blocker | undefined {
  const missing = volumes.find(
    ({ claimName, claim }) => claimName !== undefined && 'absent' in claim,
  );
  if (missing === undefined) return undefined;
  const { creationTimestamp } = pod.metadata;
  return {
    cause: 'ClaimMissing',
    holdup: `its claim ${missing.claimName} does not exist`,
    ...(creationTimestamp && { since: creationTimestamp }),
    next: { when: 'when that claim is created' },
    fix: {
      say: 'Create the claim, or correct its name in the workload of the pod. Claims of StatefulSets and of ephemeral volumes are created automatically.',
      run: [commandLine('kubectl', 'get', 'pvc', '-n', pod.metadata.namespace ?? '')],
    },
  };
}

export const claimLink = ({
  metadata: { namespace = '', name },
}: Pick<PersistentVolumeClaim, 'metadata'>): Link => ({
  kind: 'PersistentVolumeClaim',
  namespace,
  name,
});

/** Returns the blocker of a pod that holds up its own claim: the pod is the last object. */
const ofItself = (claim: string | undefined, { chain: _, ...blocker }: Blocker): Blocker => ({
  ...blocker,
  holdup: `its claim ${claim} is Pending: ${blocker.holdup}`,
});

/** Reports a claim without a volume. `now` is in ms since the epoch. */
export function unboundClaim({ pod, volumes, supply }: PodFacts, now: number): Blocker | undefined {
  for (const { claimName, claim: read, dynamic, byHand } of volumes) {
    const claim = foundIn(read);
    if (claim === undefined || claim.status?.phase === 'Bound') continue;
    const { phase = 'Pending' } = claim.status ?? {};
    if (dynamic !== undefined) {
      const found = ofPod(dynamic, now);
      if (found === undefined) continue;
      if (found.cause === 'SchedulerBypassed') return ofItself(claimName, found);
      return through(claimLink(claim), {
        ...found,
        holdup: `its claim ${claimName} is ${phase}: ${found.holdup}`,
      });
    }
    const refused = refusedAttributes(claim, byHand);
    if (refused !== undefined)
      return through(claimLink(claim), {
        ...refused,
        holdup: `its claim ${claimName} is ${phase}: ${refused.holdup}`,
      });
    const placed = bypassed(claim, byHand, [pod]);
    if (placed !== undefined) return ofItself(claimName, placed);
    const { why, fix } = reasonOf(claim, supply);
    const { creationTimestamp } = claim.metadata;
    return {
      cause: 'NoFreeVolume',
      chain: [claimLink(claim)],
      holdup: `its claim ${claimName} is ${phase}: ${why}`,
      ...(creationTimestamp && { since: creationTimestamp }),
      next: { when: 'when a PersistentVolume fits, within seconds' },
      fix,
    };
  }
  return undefined;
}

import { commandLine } from '../../lib/command-line.ts';
import { foundIn } from '../../lib/read-result.ts';
import { misplaced } from '../placement.ts';
import { type Blocker, through } from '../types.ts';
import { claimLink, unboundClaim } from './claims.ts';
import type { PodFacts } from './facts.ts';

/** Reports a pod without a node, most often because of an unbound claim. */
export function unscheduled(known: PodFacts, now: number): Blocker | undefined {
  const { spec, status, metadata } = known.pod;
  if (spec.nodeName) return undefined;
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const claim = unboundClaim(known, now) ?? unselected(known);
  const reason = condition?.message ?? condition?.reason;
  const since = condition?.lastTransitionTime ?? metadata.creationTimestamp;
  return {
    cause: claim?.cause ?? 'NotScheduled',
    holdup: `it is not scheduled yet: ${reason ?? 'no scheduler has reported a reason'}${claim === undefined ? '' : `; ${claim.holdup}`}`,
    ...(since && { since }),
    ...(claim?.chain && { chain: claim.chain }),
    next: { when: 'when an object that the scheduler waits for changes, else within 5 minutes' },
    fix: claim?.fix ?? {
      say: 'Check the events of the pod.',
      run: [
        commandLine('kubectl', 'describe', 'pod', metadata.name, '-n', metadata.namespace ?? ''),
      ],
    },
  };
}

/** Reports a bound PersistentVolume that selects no node by the label that its node has. */
function unselected({ volumes }: PodFacts): Blocker | undefined {
  for (const { claim: read, pv, volume: readVolume, placement } of volumes) {
    const [own, volume] = [foundIn(pv), readVolume && foundIn(readVolume)];
    if (own === undefined || volume === undefined) continue;
    const found = misplaced(own, volume, placement);
    if (found?.cause !== 'HostnameLabelDiffers') continue;
    const { name } = volume.metadata;
    const claim = foundIn(read);
    const blocker = through({ kind: 'Volume', name }, found);
    return claim === undefined ? blocker : through(claimLink(claim), blocker);
  }
  return undefined;
}

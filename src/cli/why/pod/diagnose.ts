import { commandLine } from '../../lib/command-line.ts';
import { foundIn } from '../../lib/read-result.ts';
import type { Diagnosis } from '../types.ts';
import { conditionOf, notThere } from './attached.ts';
import { missingClaim, unboundClaim } from './claims.ts';
import { deletingPod } from './deleting.ts';
import { type PodFacts, podName } from './facts.ts';
import { unscheduled } from './scheduled.ts';

/** Returns the first blocker of a pod's volumes. Pure. `now` is in ms since the epoch. */
export function diagnosePod(known: PodFacts, now: number): Diagnosis {
  const { pod, volumes } = known;
  const { phase } = pod.status ?? {};
  const name = `Pod ${podName(pod)}`;
  if (phase === 'Succeeded' || phase === 'Failed') {
    return { nothing: `${name} has ended (${phase}), and no longer needs volumes` };
  }
  const deleting = deletingPod(known);
  if (deleting !== undefined) return deleting;
  if (volumes.length === 0)
    return { nothing: `${name} has no volumes that Stowage could provision` };
  // The kubelet mounts all volumes before it starts containers.
  const runs = phase === 'Running' && conditionOf(known)?.status !== 'False';
  const found = runs
    ? undefined
    : (missingClaim(known) ??
      unscheduled(known, now) ??
      unboundClaim(known, now) ??
      notThere(known, now));
  return found ?? { nothing: healthyMessage(known, name) };
}

function healthyMessage({ pod, volumes }: PodFacts, name: string): string {
  const ours = volumes
    .map(({ volume }) => volume && foundIn(volume))
    .filter((each) => each !== undefined);
  const unread = volumes.some((each) => [each.claim, each.pv].some((read) => 'forbidden' in read));
  if (ours.length === 0 && unread) return `Pod ${podName(pod)}: you may not read its volumes`;
  if (ours.length === 0) return `${name} has no volumes of Stowage; other volumes are not checked`;
  const names = ours.map(({ metadata }) => metadata.name);
  const there = `${names.length === 1 ? 'Volume' : 'Volumes'} ${names.join(', ')}`;
  const { phase = 'Pending' } = pod.status ?? {};
  if (phase === 'Running') return `${name} is Running: nothing holds its volumes up (${there})`;
  return `${name} is ${phase}, but its volumes are attached: ${there} on node ${pod.spec.nodeName}. To find another cause, run: ${commandLine('kubectl', 'describe', 'pod', pod.metadata.name, '-n', pod.metadata.namespace ?? '')}`;
}

import type { PersistentVolumeClaim, Pod } from '../../api/core.ts';
import { uses } from '../lib/objects/related.ts';
import type { VolumeStats } from './stats-summary.ts';

/**
 * Returns the newest figures of a claim; undefined if there are none. A kubelet names a claim
 * without its UID. So the pod, which has one, must exist on the kubelet's node, and must have been
 * scheduled with this very claim, not with an earlier one of its name. Pure.
 * @param pods pods of the kubelet's node, by UID
 */
export function figuresOf(
  claim: PersistentVolumeClaim,
  stats: readonly VolumeStats[],
  pods: ReadonlyMap<string, Pod>,
): VolumeStats | undefined {
  const { namespace, name } = claim.metadata;
  return stats
    .filter((each) => each.claim.name === name && each.claim.namespace === namespace)
    .filter((each) => {
      const pod = pods.get(each.pod.uid);
      return pod !== undefined && mounts(pod, each, claim) && isOlder(claim, pod);
    })
    .toSorted((a, b) => (b.at ?? 0) - (a.at ?? 0))[0];
}

/** Reports whether the pod's volume of that name is the claim. */
function mounts(pod: Pod, { volume }: VolumeStats, claim: PersistentVolumeClaim): boolean {
  const volumes = pod.spec.volumes?.filter(({ name }) => name === volume) ?? [];
  return (
    pod.metadata.namespace === claim.metadata.namespace &&
    uses({ ...pod, spec: { ...pod.spec, volumes } }, claim)
  );
}

/**
 * Reports whether a claim is older than the scheduling of a pod, which only binds existing claims.
 * Both times are in whole seconds, by clocks of the control plane.
 */
function isOlder({ metadata }: PersistentVolumeClaim, { status }: Pod): boolean {
  const scheduled = status?.conditions?.find(
    ({ type, status }) => type === 'PodScheduled' && status === 'True',
  );
  const at = Date.parse(scheduled?.lastTransitionTime ?? '');
  return Date.parse(metadata.creationTimestamp ?? '') <= at;
}

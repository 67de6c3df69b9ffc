import type { PersistentVolumeClaim, Pod, StorageClass } from '../../../api/core.ts';
import { SELECTED_NODE_ANNOTATION } from '../../../api/names.ts';
import type { Blocker } from '../types.ts';

const hasEnded = ({ status }: Pod): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';

/**
 * Reports a pod that has a node although none was selected for its claim: `spec.nodeName` bypasses
 * the scheduler, which selects the node of a claim that waits for its first consumer
 * (kubernetes.io/docs/concepts/storage/storage-classes, volume binding mode). A pod that the
 * scheduler still has to place comes first: it selects the node. Pure.
 */
export function bypassed(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass | undefined,
  pods: readonly Pod[],
): Blocker | undefined {
  const { annotations = {}, creationTimestamp: since } = claim.metadata;
  const active = pods.filter((pod) => !hasEnded(pod));
  const [pod] = active;
  if (storageClass?.volumeBindingMode !== 'WaitForFirstConsumer' || claim.spec.volumeName)
    return undefined;
  if (annotations[SELECTED_NODE_ANNOTATION] !== undefined || pod === undefined) return undefined;
  if (active.some(({ spec }) => !spec.nodeName)) return undefined;
  const { name, namespace = '' } = pod.metadata;
  return {
    cause: 'SchedulerBypassed',
    chain: [{ kind: 'Pod', namespace, name }],
    holdup: `pod ${name}, which uses it, has node ${pod.spec.nodeName} already (spec.nodeName), so that the scheduler selects no node for the claim`,
    ...(since === undefined ? {} : { since }),
    next: { when: 'when the scheduler places a pod that uses it' },
    fix: {
      say: `Create pod ${name} again without spec.nodeName, in its workload if it has one. To keep it on that node, give it a nodeSelector with the node's label kubernetes.io/hostname.`,
    },
  };
}

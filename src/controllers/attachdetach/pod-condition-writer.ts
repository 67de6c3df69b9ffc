import type { Pod } from '../../api/core.ts';
import { VOLUMES_ATTACHED_CONDITION } from '../../api/names.ts';
import { PODS } from '../../api/resources.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Clock } from '../../workqueue/clock.ts';
import { conditionOf } from './pod-condition.ts';
import type { VolumeConsumers } from './volume-consumers.ts';
import { failureOf, type VolumeState } from './volume-state.ts';

export interface PodConditionWriterDeps {
  client: KubeClient;
  pods: Informer<Pod>;
  uses: VolumeConsumers;
  knownOf(uid: string): VolumeState | undefined;
  clock: Pick<Clock, 'timeOfDay'>;
}

/**
 * Creates a writer of the pod condition stowage.dev/VolumesAttached, which can be a readiness gate.
 */
export function createPodConditionWriter({
  client,
  pods,
  uses,
  knownOf,
  clock,
}: PodConditionWriterDeps): {
  /** Writes the condition of each pod where it differs. */
  write(needing: readonly Pod[]): Promise<void>;
} {
  return {
    async write(needing) {
      await Promise.all(needing.map((pod) => writeOne(pod)));
    },
  };

  async function writeOne(pod: Pod): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    const node = pod.spec.nodeName ?? '';
    const volumes = uses.volumesOf(pod).flatMap((each) => {
      const known = knownOf(each);
      // Another daemon manages this volume.
      if (known === undefined) return [];
      return {
        volume: known.name,
        entry: known.entries.find((entry) => entry.node === node),
        blocked: known.blocked.get(node) ?? failureOf(known, 'attach', node)?.message,
      };
    });
    const old = pods
      .get(name, namespace)
      ?.status?.conditions?.find(({ type }) => type === VOLUMES_ATTACHED_CONDITION);
    const condition = conditionOf(volumes, old, clock.timeOfDay());
    if (condition === undefined || condition === old) return;
    // The kubelet writes its own conditions at the same time: only a strategic patch preserves
    // them.
    const patch = { metadata: { uid }, status: { conditions: [condition] } };
    try {
      const how = { namespace, subresource: 'status', type: 'strategic' } as const;
      pods.recordWrite(await client.patch<Pod>(PODS, name, patch, how));
    } catch (error) {
      // The pod is gone, or another pod has its name by now.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}

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
  clock: Pick<Clock, 'now'>;
}

/** The condition stowage.dev/VolumesAttached of pods, which can be a readiness gate. */
export function createPodConditionWriter({
  client,
  pods,
  uses,
  knownOf,
  clock,
}: PodConditionWriterDeps): {
  /** Writes it where it is not so. */
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
      // Another daemon's.
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
    const condition = conditionOf(volumes, old, clock.now());
    if (condition === undefined || condition === old) return;
    // The kubelet writes its own conditions at the same time: only a strategic patch leaves them alone.
    const patch = { metadata: { uid }, status: { conditions: [condition] } };
    try {
      const how = { namespace, subresource: 'status', type: 'strategic' } as const;
      pods.recordWrite(await client.patch<Pod>(PODS, name, patch, how));
    } catch (error) {
      // Gone, or another one of that name by now.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}

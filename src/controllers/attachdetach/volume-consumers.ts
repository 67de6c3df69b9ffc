import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/core.ts';
import { claimNamesOf } from '../../api/pod-claims.ts';
import type { Volume } from '../../api/volume.ts';
import { indexBy } from '../../kube/index-by.ts';
import type { Informer } from '../../kube/informer.ts';
import { isPodActive, type Lookups, usesOf } from './pod-volumes.ts';
import type { PodUse } from './types.ts';

export interface VolumeConsumersDeps {
  volumes: Informer<Volume>;
  persistentVolumes: Informer<PersistentVolume>;
  pods: Informer<Pod>;
  claims: Informer<PersistentVolumeClaim>;
}

/** Pods that need Volumes and Volumes that pods need, from the caches. */
export interface VolumeConsumers {
  /** Returns the pods that need the Volume, scheduled and not terminated. */
  of(volume: Volume): { pod: Pod; use: PodUse }[];
  /** Returns the UIDs of the Volumes that a pod needs. */
  volumesOf(pod: Pod): string[];
  /** Returns the names of Volumes that a pod may need, even if the pod or its claims are faulty. */
  namesOf(pod: Pod): string[];
  /** Reports whether a pod that used a volume still does, according to the pod alone. */
  isPodActive(use: PodUse): boolean;
}

/**
 * Creates the indexes. Call it before other change handlers are registered and before the informers
 * start.
 */
export function createVolumeConsumers({
  volumes,
  persistentVolumes,
  pods,
  claims,
}: VolumeConsumersDeps): VolumeConsumers {
  const podsOfClaim = indexBy(pods, (pod) =>
    claimNamesOf(pod).map((name) => `${pod.metadata.namespace}/${name}`),
  );
  const podsAt = indexBy(pods, devicePathsOf);
  const volumesAt = indexBy(volumes, ({ status }) => status?.devicePath);
  const lookups: Lookups = {
    claim: (namespace, name) => claims.get(name, namespace),
    persistentVolume: (name) => persistentVolumes.get(name),
    volumesAt,
  };

  return {
    of(volume) {
      const { name, uid } = volume.metadata;
      const claim = persistentVolumes.get(name)?.spec.claimRef;
      const path = volume.status?.devicePath;
      const candidates = new Set([
        ...(claim === undefined ? [] : podsOfClaim(`${claim.namespace}/${claim.name}`)),
        ...(path === undefined ? [] : podsAt(path)),
      ]);
      return [...candidates].flatMap((pod) => {
        const found = usesOf(pod, lookups).find((each) => each.volume === uid);
        return found === undefined ? [] : [{ pod, use: found.use }];
      });
    },
    volumesOf: (pod) => usesOf(pod, lookups).map(({ volume }) => volume),
    namesOf: (pod) => [
      ...claimNamesOf(pod).flatMap(
        (name) => claims.get(name, pod.metadata.namespace)?.spec.volumeName ?? [],
      ),
      ...devicePathsOf(pod).flatMap((path) => volumesAt(path).map(({ metadata }) => metadata.name)),
    ],
    isPodActive(use) {
      const [namespace, name = ''] = use.pod.split('/');
      return isPodActive(pods.get(name, namespace), use);
    },
  };
}

const devicePathsOf = ({ spec }: Pod): string[] =>
  (spec.volumes ?? []).flatMap(({ hostPath }) =>
    hostPath?.type === 'BlockDevice' ? [hostPath.path] : [],
  );

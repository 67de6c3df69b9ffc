import type { Pod } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../src/api/resources.ts';
import type { VolumeMode } from '../../../src/api/volume.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { until } from '../../support/until.ts';
import { IMAGE } from './image.ts';

/** A volume in pods: the claim, and where a container has it. */
export interface Mounted {
  claim: string;
  mode: VolumeMode;
}

export const NAMESPACE = 'default';
/** Where a container has the volume: a directory, or a device. */
const PLACE = '/data';
/** ms */
const STARTS_WITHIN = 60_000;

/** Shell commands that keep a word in a volume, read it back, and hold the volume. */
export const SCRIPTS: Record<VolumeMode, { write(word: string): string; read: string; hold: string }> = {
  Filesystem: {
    write: (word) => `grep ' ${PLACE} ' /proc/mounts && echo ${word} >${PLACE}/word && sync`,
    read: `cat ${PLACE}/word`,
    hold: `cd ${PLACE}; sleep infinity`,
  },
  Block: {
    write: (word) => `echo ${word} | dd of=${PLACE} bs=4096 seek=100 conv=notrunc,fsync`,
    read: `dd if=${PLACE} bs=4096 skip=100 count=1 2>/dev/null | head -n 1`,
    hold: `exec 3<>${PLACE}; sleep infinity`,
  },
};

/** Pods of an API server whose node is a real one. */
export function podsOf(client: KubeClient) {
  const options = { namespace: NAMESPACE };

  async function create(name: string, { claim, mode }: Mounted, script: string, graceSeconds: number) {
    const at =
      mode === 'Block'
        ? { volumeDevices: [{ name: 'v', devicePath: PLACE }] }
        : { volumeMounts: [{ name: 'v', mountPath: PLACE }] };
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        restartPolicy: 'Never',
        hostNetwork: true,
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: graceSeconds,
        containers: [
          { name: 'c', image: IMAGE, imagePullPolicy: 'Never', command: ['sh', '-c', script], ...at },
        ],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: claim } }],
      },
    };
    await client.create<KubeObject>(PODS, pod, options);
  }

  const inPhase = (name: string, ...phases: string[]) =>
    until(`pod ${name} ${phases.join(' or ')}`, STARTS_WITHIN, async () => {
      const pod = await client.get<Pod>(PODS, name, options);
      return phases.includes(pod.status?.phase ?? '') ? pod : undefined;
    });

  /** Deletes a pod or claim, and waits until it is gone. */
  async function remove(resource: typeof PODS, name: string): Promise<void> {
    await client.delete(resource, name, options);
    await until(`${resource.kind} ${name} gone`, STARTS_WITHIN, () =>
      client.get(resource, name, options).then(
        () => undefined,
        (error: unknown) => (isNotFound(error) ? true : Promise.reject(error)),
      ),
    );
  }

  return {
    /** A claim of 1 MiB or more: only one Volume is of that class. */
    async claim(name: string, storageClassName: string, volumeMode: VolumeMode): Promise<Mounted> {
      const claim = {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name },
        spec: {
          ...{ storageClassName, volumeMode, accessModes: ['ReadWriteOnce'] },
          resources: { requests: { storage: '1Mi' } },
        },
      };
      await client.create<KubeObject>(PERSISTENT_VOLUME_CLAIMS, claim, options);
      return { claim: name, mode: volumeMode };
    },
    unclaim: (name: string) => remove(PERSISTENT_VOLUME_CLAIMS, name),

    /** Runs a pod to its end, removes it, and resolves to what it wrote to stdout. Throws where it fails. */
    async run(name: string, mounted: Mounted, script: string): Promise<string> {
      await create(name, mounted, `{ ${script}; } >/dev/termination-log 2>&1`, 1);
      const { status } = await inPhase(name, 'Succeeded', 'Failed');
      const { containerStatuses = [] } = status as {
        containerStatuses?: { state: { terminated?: { message?: string } } }[];
      };
      const said = containerStatuses[0]?.state.terminated?.message ?? '';
      if (status?.phase === 'Failed') throw new Error(`pod ${name} failed: ${said}`);
      await remove(PODS, name);
      return said;
    },

    /** Starts a pod that runs until it is deleted; it takes `graceSeconds` to end. */
    async start(name: string, mounted: Mounted, graceSeconds = 1): Promise<void> {
      await create(name, mounted, SCRIPTS[mounted.mode].hold, graceSeconds);
      await inPhase(name, 'Running');
    },
    /** One that cannot start yet. */
    waiting: (name: string, mounted: Mounted) => create(name, mounted, 'true', 1),
    remove: (name: string) => remove(PODS, name),
  };
}

import type { Pod } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../src/api/resources.ts';
import type { VolumeMode } from '../../../src/api/volume.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { until } from '../../support/until.ts';
import { IMAGE } from './image.ts';

/** A volume in pods: its claim, and the mode in which containers use it. */
export interface Mounted {
  claim: string;
  mode: VolumeMode;
}

export const NAMESPACE = 'default';

/** Returns the path of a volume in a container: a directory, or a device. */
const placeOf = ({ claim }: Mounted) => `/volumes/${claim}`;

/** Shell commands for a volume at `place`. */
interface Scripts {
  /** Writes a word to the volume. */
  write(place: string, word: string): string;
  /** Prints the word. */
  read(place: string): string;
  hold(place: string): string;
}

const SCRIPTS: Record<VolumeMode, Scripts> = {
  Filesystem: {
    write: (place, word) => `grep ' ${place} ' /proc/mounts && echo ${word} >${place}/word && sync`,
    read: (place) => `cat ${place}/word`,
    hold: (place) => `cd ${place}; sleep infinity`,
  },
  Block: {
    write: (place, word) => `echo ${word} | dd of=${place} bs=4096 seek=100 conv=notrunc,fsync`,
    read: (place) => `dd if=${place} bs=4096 skip=100 count=1 2>/dev/null | head -n 1`,
    hold: (place) => `exec 3<>${place}; sleep infinity`,
  },
};

export const writing = (mounted: Mounted, word: string) =>
  SCRIPTS[mounted.mode].write(placeOf(mounted), word);
export const reading = (mounted: Mounted) => SCRIPTS[mounted.mode].read(placeOf(mounted));

/** Returns a script whose output can be read after its pod has ended. */
export const withTerminationLog = (script: string) => `{ ${script}; } >/dev/termination-log 2>&1`;

export interface PodOptions {
  /** Defaults to Never. */
  restartPolicy?: 'Always';
  /** Grace period for its end, in s. */
  graceSeconds?: number;
  /** Hostname of its node. */
  node?: string;
  /** Conditions that the pod requires to be Ready. */
  readinessGates?: readonly string[];
}

/** Handles pods of an API server whose node is real. Each wait ends after `withinMs`. */
export function podsOf(client: KubeClient, namespace = NAMESPACE, withinMs?: number) {
  const options = { namespace };

  async function create(
    name: string,
    volumes: readonly Mounted[],
    script: string,
    { restartPolicy, graceSeconds = 1, node, readinessGates = [] }: PodOptions = {},
  ) {
    const mounts = volumes.filter(({ mode }) => mode === 'Filesystem');
    const devices = volumes.filter(({ mode }) => mode === 'Block');
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        restartPolicy: restartPolicy ?? 'Never',
        hostNetwork: true,
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: graceSeconds,
        ...(node === undefined ? {} : { nodeSelector: { 'kubernetes.io/hostname': node } }),
        readinessGates: readinessGates.map((conditionType) => ({ conditionType })),
        // No eviction, regardless of how long its node is not Ready.
        tolerations: [{ operator: 'Exists' }],
        containers: [
          {
            ...{ name: 'c', image: IMAGE, imagePullPolicy: 'Never', command: ['sh', '-c', script] },
            volumeMounts: mounts.map((each) => ({ name: each.claim, mountPath: placeOf(each) })),
            volumeDevices: devices.map((each) => ({ name: each.claim, devicePath: placeOf(each) })),
          },
        ],
        volumes: volumes.map(({ claim }) => ({
          name: claim,
          persistentVolumeClaim: { claimName: claim },
        })),
      },
    };
    await client.create<KubeObject>(PODS, pod, options);
  }

  const inPhase = (name: string, ...phases: string[]) =>
    until(
      `pod ${name} ${phases.join(' or ')}`,
      async () => {
        const pod = await client.get<Pod>(PODS, name, options);
        return phases.includes(pod.status?.phase ?? '') ? pod : undefined;
      },
      withinMs,
    );

  /** Deletes a pod or claim, and waits until it is gone. */
  async function remove(resource: typeof PODS, name: string): Promise<void> {
    await client.delete(resource, name, options);
    await until(
      `${resource.kind} ${name} gone`,
      () =>
        client.get(resource, name, options).then(
          () => undefined,
          (error: unknown) => (isNotFound(error) ? true : Promise.reject(error)),
        ),
      withinMs,
    );
  }

  async function ended(name: string): Promise<string> {
    const { status } = await inPhase(name, 'Succeeded', 'Failed');
    const { containerStatuses = [] } = status as {
      containerStatuses?: { state: { terminated?: { message?: string } } }[];
    };
    const said = containerStatuses[0]?.state.terminated?.message ?? '';
    if (status?.phase === 'Failed') throw new Error(`pod ${name} failed: ${said}`);
    await remove(PODS, name);
    return said;
  }

  return {
    /** Creates a claim of at least 1 MiB. Its class has only one Volume. */
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

    /** Runs a pod to its end, removes it, and resolves to its stdout. Throws if the pod fails. */
    async run(
      name: string,
      volumes: readonly Mounted[],
      script: string,
      options: PodOptions = {},
    ): Promise<string> {
      await create(name, volumes, withTerminationLog(script), options);
      return ended(name);
    },
    /**
     * Waits for the end of a pod created with `telling`, and removes the pod. Throws if the pod
     * fails.
     */
    ended,

    /** Starts a pod that holds a volume until the pod is deleted. */
    async start(name: string, mounted: Mounted, options: PodOptions = {}): Promise<void> {
      await create(name, [mounted], SCRIPTS[mounted.mode].hold(placeOf(mounted)), options);
      await inPhase(name, 'Running');
    },
    /** Creates a pod without waiting for it. */
    create,
    inPhase,
    remove: (name: string) => remove(PODS, name),
  };
}

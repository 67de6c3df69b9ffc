import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PersistentVolumeClaim, Pod } from '../../src/api/core.ts';
import { PERSISTENT_VOLUME_CLAIMS, PODS } from '../../src/api/resources.ts';
import { isConflict, isNotFound } from '../../src/kube/errors.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import type { Mounts } from './sandbox/kubelet.ts';
import { mountsIn } from './sandbox/mounts.ts';

/**
 * Result of a container: the files that it wrote into the volume, its error message, or `undefined`
 * while it runs.
 */
export type Ran = { files: Record<string, string> } | { failed: string } | undefined;

interface PodSpec {
  containers: { args?: string[]; env?: { name: string; value?: string }[] }[];
}
export type PopulatingPod = Pod & { spec: PodSpec };

/** Uses the layout of mountsIn. */
const targetIn = (folder: string, volume: string, pod: string) =>
  join(folder, 'pods', pod, 'volumes/kubernetes.io~local-volume', volume);

/**
 * Models the container runtime of populating pods: `world.run` decides their results. The files go
 * into volumes in memory, and into the volumes that are mounted below `mountsBelow`, if set.
 */
export function populatingContainers(namespace: string, mountsBelow?: string) {
  const mounts = mountsBelow === undefined ? undefined : mountsIn(mountsBelow);
  /** UIDs of the pods that each PersistentVolume is mounted for. */
  const mounted = new Map<string, Set<string>>();
  /** Files of each PersistentVolume. */
  const contents = new Map<string, Record<string, string>>();
  /** All pods that ran, once each. */
  const ran: PopulatingPod[] = [];
  const faults: string[] = [];
  const world = {
    run: (pod: PopulatingPod): Ran => {
      const [path = '', text = ''] = pod.spec.containers[0]?.args ?? [];
      return { files: { [path.replace('/target/', '')]: text } };
    },
    /** Hook before the mount of a volume; an error fails the mount. */
    mount: async (_volume: string): Promise<void> => {},
  };
  const done = new Set<string>();
  const stopping = new AbortController();
  let running = Promise.resolve();

  async function runAll(client: KubeClient): Promise<void> {
    while (!stopping.signal.aborted) {
      const { items } = await client.list<PopulatingPod>(PODS, { namespace });
      for (const pod of items) await runOne(client, pod);
      await sleep(50, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  async function runOne(client: KubeClient, pod: PopulatingPod): Promise<void> {
    const { uid = '', name, deletionTimestamp } = pod.metadata;
    if (pod.status?.phase !== 'Running' || deletionTimestamp !== undefined || done.has(uid)) return;
    const end = world.run(pod);
    if (end === undefined) return;
    done.add(uid);
    ran.push(pod);
    const target = pod.spec.volumes?.find((volume) => volume.name === 'target');
    const claimName = target?.persistentVolumeClaim?.claimName ?? '';
    const claim = await client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, claimName, {
      namespace,
    });
    const volume = claim.spec.volumeName ?? '';
    if (!mounted.get(volume)?.has(uid)) faults.push(`${name} ran without its volume`);
    if ('files' in end) {
      contents.set(volume, { ...contents.get(volume), ...end.files });
      if (mountsBelow !== undefined) {
        for (const [file, text] of Object.entries(end.files))
          await writeFile(join(targetIn(mountsBelow, volume, uid), file), text, { flush: true });
      }
    }
    await finish(client, pod, 'failed' in end ? end.failed : undefined);
  }

  async function finish(
    client: KubeClient,
    { metadata }: PopulatingPod,
    failed?: string,
  ): Promise<void> {
    const terminated =
      failed === undefined
        ? { exitCode: 0, reason: 'Completed' }
        : { exitCode: 1, reason: 'Error', message: failed };
    const status = {
      phase: failed === undefined ? 'Succeeded' : 'Failed',
      containerStatuses: [
        {
          name: 'populate',
          image: 'x',
          imageID: '',
          ready: false,
          restartCount: 0,
          state: { terminated },
        },
      ],
    };
    const patch = { metadata: { uid: metadata.uid }, status };
    try {
      await client.patch(PODS, metadata.name, patch, { namespace, subresource: 'status' });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  return {
    ...{ contents, ran, faults, world },
    /** Mounts for the kubelet of the sandbox. */
    mounts: {
      async mount(volume, pod) {
        const { name } = volume.metadata;
        await world.mount(name);
        await mounts?.mount(volume, pod);
        mounted.set(name, (mounted.get(name) ?? new Set()).add(pod));
      },
      async unmount(name, pod) {
        await mounts?.unmount(name, pod);
        mounted.get(name)?.delete(pod);
      },
    } satisfies Mounts,
    /** Keeps all containers running until the returned function is called. */
    hold(): () => void {
      const { run } = world;
      world.run = () => undefined;
      return () => {
        world.run = run;
      };
    },
    start(client: KubeClient): void {
      running = runAll(client);
    },
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}

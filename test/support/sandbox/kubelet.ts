import type { PersistentVolume } from '../../../src/api/core.ts';
import type { StoredObject } from '../../../src/sandbox/kind.ts';
import { type Cluster, settle, timestamp } from '../../../src/sandbox/objects/cluster.ts';
import { create } from '../../../src/sandbox/objects/create.ts';
import { remove } from '../../../src/sandbox/objects/delete.ts';
import { keyOf } from '../../../src/sandbox/store.ts';
import { type KubeletPod, started, starting, stopped } from './pod-status.ts';

/** Mounts volumes of pods on the machine, with a mount point for each pod and volume. */
export interface Mounts {
  /** Rejects with the reason of the failure. */
  mount(volume: PersistentVolume, podUid: string): Promise<void>;
  unmount(volumeName: string, podUid: string): Promise<void>;
}

export interface KubeletOptions {
  /** Names of the simulated nodes. */
  nodes: string[];
  mounts: Mounts;
}

const PODS = 'pods';
const WATCHED = new Set([PODS, 'persistentvolumeclaims', 'persistentvolumes']);
const RETRY_MS = 500;

/**
 * Simulates the kubelets of some nodes: mounts the volumes of their pods, reports the containers as
 * started, and unmounts before a deleted pod is removed. No container runs. Like a real kubelet, it
 * reports no volume in use on its Node: `local` volumes are not attachable.
 */
export class Kubelet {
  readonly #cluster: Cluster;
  readonly #options: KubeletOptions;
  /** Names of the mounted volumes, by the UID of their pod. */
  readonly #mounted = new Map<string, Set<string>>();
  readonly #busy = new Map<string, Promise<void>>();
  /** UIDs of pods to sync again: an event occurred while they were busy. */
  readonly #changed = new Set<string>();
  /** Timers of pods whose sync failed; such pods are skipped until then. */
  readonly #retries = new Map<string, NodeJS.Timeout>();
  #stopped = false;

  constructor(cluster: Cluster, options: KubeletOptions) {
    this.#cluster = cluster;
    this.#options = options;
    cluster.store.subscribe(({ table }) => {
      if (WATCHED.has(table)) setImmediate(() => this.#look());
    });
  }

  /** Unmounts all mounted volumes. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#retries.values()) clearTimeout(timer);
    await Promise.all(this.#busy.values());
    for (const uid of this.#mounted.keys()) await this.#unmountAll(uid);
  }

  #pods(): KubeletPod[] {
    return (this.#cluster.store.list(PODS) as KubeletPod[]).filter(({ spec }) =>
      this.#options.nodes.includes(spec.nodeName ?? ''),
    );
  }

  #look(): void {
    const pods = new Map(this.#pods().map((pod) => [pod.metadata.uid ?? '', pod]));
    for (const uid of new Set([...pods.keys(), ...this.#mounted.keys()])) {
      if (this.#stopped) return;
      if (this.#retries.has(uid)) continue;
      if (this.#busy.has(uid)) this.#changed.add(uid);
      else
        this.#busy.set(
          uid,
          this.#sync(uid, pods.get(uid)).finally(() => this.#finish(uid)),
        );
    }
  }

  #finish(uid: string): void {
    this.#busy.delete(uid);
    if (this.#changed.delete(uid)) this.#look();
  }

  /** Never rejects: a failure is reported by an event and retried. */
  async #sync(uid: string, pod: KubeletPod | undefined): Promise<void> {
    try {
      if (pod === undefined) await this.#unmountAll(uid);
      else if (pod.metadata.deletionTimestamp !== undefined) await this.#end(uid, pod);
      else if (pod.status?.phase === 'Pending') await this.#begin(uid, pod);
    } catch (error) {
      if (pod !== undefined) this.#tell(pod, (error as Error).message);
      const retry = () => {
        this.#retries.delete(uid);
        this.#look();
      };
      if (!this.#stopped) this.#retries.set(uid, setTimeout(retry, RETRY_MS));
    }
  }

  async #begin(uid: string, pod: KubeletPod): Promise<void> {
    const volumes = this.#volumesOf(pod);
    this.#write(pod, starting);
    if (volumes === undefined) return;
    const mounted = this.#mounted.get(uid) ?? new Set();
    this.#mounted.set(uid, mounted);
    for (const volume of volumes) {
      await this.#options.mounts.mount(volume, uid);
      mounted.add(volume.metadata.name);
    }
    this.#write(pod, (found) => started(found, timestamp(this.#cluster.now())));
  }

  async #end(uid: string, pod: KubeletPod): Promise<void> {
    this.#write(pod, (found) => stopped(found, timestamp(this.#cluster.now())));
    await this.#unmountAll(uid);
    const { store, kinds } = this.#cluster;
    const found = store.get(PODS, keyOf(pod.metadata.namespace, pod.metadata.name));
    const kind = kinds.byTable(PODS);
    if (kind && found?.metadata.uid === uid)
      remove(this.#cluster, kind, found, { gracePeriodSeconds: 0 });
  }

  async #unmountAll(uid: string): Promise<void> {
    for (const name of this.#mounted.get(uid) ?? []) {
      await this.#options.mounts.unmount(name, uid);
      this.#mounted.get(uid)?.delete(name);
    }
    this.#mounted.delete(uid);
  }

  /** @returns undefined while a claim is not bound */
  #volumesOf({ metadata, spec }: KubeletPod): PersistentVolume[] | undefined {
    const { store } = this.#cluster;
    const volumes: PersistentVolume[] = [];
    for (const { persistentVolumeClaim } of spec.volumes ?? []) {
      if (persistentVolumeClaim === undefined) continue;
      const claim = store.get(
        'persistentvolumeclaims',
        keyOf(metadata.namespace, persistentVolumeClaim.claimName),
      ) as { spec: { volumeName?: string }; status?: { phase?: string } } | undefined;
      if (claim?.status?.phase !== 'Bound') return undefined;
      const volume = store.get('persistentvolumes', keyOf(undefined, claim.spec.volumeName ?? ''));
      if (volume === undefined) return undefined;
      volumes.push(volume as unknown as PersistentVolume);
    }
    return volumes;
  }

  /** Updates the current status of the pod, unless another pod has its name. */
  #write(pod: KubeletPod, change: (pod: KubeletPod) => KubeletPod): void {
    const { namespace, name, uid } = pod.metadata;
    const found = this.#cluster.store.get(PODS, keyOf(namespace, name)) as KubeletPod | undefined;
    if (found === undefined || found.metadata.uid !== uid) return;
    const next = change(found);
    if (next !== found) settle(this.#cluster, PODS, next);
  }

  #tell({ metadata, spec }: KubeletPod, message: string): void {
    const { namespace = '', name, uid } = metadata;
    const kind = this.#cluster.kinds.byTable('events');
    const now = timestamp(this.#cluster.now());
    const event: Partial<StoredObject> = {
      metadata: { generateName: `${name}.`, namespace } as never,
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
      type: 'Warning',
      reason: 'FailedMount',
      message,
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
      source: { component: 'kubelet', host: spec.nodeName },
    };
    const options = { dryRun: false, fieldValidation: 'Ignore', warn: () => {} } as const;
    if (kind) create(this.#cluster, kind, namespace, event, options);
  }
}

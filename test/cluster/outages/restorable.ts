import { STORAGE_CLASSES, VOLUMES } from '../../../src/api/resources.ts';
import type { Volume, VolumeSpec } from '../../../src/api/volume.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import { LOCAL_CLASS, sparseVolume } from '../../support/cluster.ts';
import { type Kinds, setUpKinds } from '../../support/kinds.ts';
import { removeTraces } from '../../support/remove-traces.ts';
import { type Service, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { type Scene, startScene } from './scene.ts';

/** A real API server whose etcd can be restored, and a daemon that keeps running. */
export interface Restorable {
  kinds: Kinds;
  scene: Scene;
  watch: Service;
  create(
    name: string,
    spec: Partial<VolumeSpec>,
    annotations?: Record<string, string>,
  ): Promise<Volume>;
  get(name: string): Promise<Volume>;
  /** Waits for a Ready condition with that status or reason. */
  ready(name: string, is: string): Promise<Volume>;
  gone(name: string): Promise<void>;
  /** Deletes them, and waits until they are gone. */
  remove(...names: string[]): Promise<void>;
  /** Waits, and prints the daemon's log if the wait times out. */
  told<T>(what: string, look: () => Promise<T | undefined>): Promise<T>;
  /**
   * Restores while the daemon is stopped, and raises resourceVersion above its value before.
   * Watches that resume then report no event for the objects that differ.
   */
  restoreAsleep(): Promise<void>;
  /** Cleans up after each test. */
  clean(): Promise<void>;
  stop(): Promise<void>;
}

export const readyOf = ({ status }: Volume) =>
  status?.conditions?.find(({ type }) => type === 'Ready');

export async function startRestorable(): Promise<Restorable> {
  const kinds = await setUpKinds();
  const scene = await startScene(kinds.folder);
  const { client, controlPlane } = scene;
  // A leader would exit during a long outage of the API server, and lose its state in memory.
  const flags = ['--ssh-config', scene.sshConfig, '--leader-election=false'];
  const watch = startService(scene.kubeconfig, flags, kinds.folder);
  const uids: string[] = [];

  const get = (name: string) => client.get<Volume>(VOLUMES, name);

  async function told<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
    try {
      return await until(what, look);
    } catch (error) {
      process.stderr.write(`\nThe daemon:\n${await watch.log()}\n`);
      throw error;
    }
  }

  async function gone(name: string): Promise<void> {
    await told(`${name} is gone`, () =>
      get(name).then(
        () => undefined,
        (error: unknown) => (isNotFound(error) ? true : Promise.reject(error)),
      ),
    );
  }

  const version = async () =>
    BigInt((await client.list(STORAGE_CLASSES)).metadata.resourceVersion ?? 0);

  return {
    ...{ kinds, scene, watch, get, gone, told },
    async create(name, spec, annotations) {
      const { sparseLoopDevice: _, ...common } = sparseVolume(name, 'n1', '16Mi').spec;
      const volume = await client.create<Volume>(VOLUMES, {
        ...sparseVolume(name, 'n1', '16Mi'),
        metadata: { name, ...(annotations && { annotations }) },
        spec: { ...common, ...spec },
      });
      uids.push(volume.metadata.uid ?? '');
      return volume;
    },
    ready: (name, is) =>
      told(`${name} Ready=${is}`, async () => {
        const volume = await get(name);
        const ready = readyOf(volume);
        return ready?.status === is || ready?.reason === is ? volume : undefined;
      }),
    async remove(...names) {
      for (const name of names) await client.delete(VOLUMES, name);
      for (const name of names) await gone(name);
    },
    async restoreAsleep() {
      const before = await version();
      watch.signal('SIGSTOP');
      await controlPlane.restore();
      const { name } = LOCAL_CLASS.metadata;
      for (let n = 0; (await version()) <= before; n++) {
        await client.patch(STORAGE_CLASSES, name, {
          metadata: { annotations: { count: String(n) } },
        });
      }
      watch.signal('SIGCONT');
    },
    async clean() {
      // Objects that a failed test left.
      for (const { metadata } of (await client.list<Volume>(VOLUMES)).items) {
        await client.patch(VOLUMES, metadata.name, { spec: { onDelete: 'Retain' } });
        await client.delete(VOLUMES, metadata.name);
        await gone(metadata.name);
      }
      for (const uid of uids.splice(0)) await removeTraces(uid, `${kinds.folder}/${uid}`);
      await kinds.clean();
    },
    async stop() {
      const exit = await watch.stop();
      await scene.stop();
      await kinds.stop();
      if (exit !== 0 || watch.starts() !== 1) throw new Error(`watch ended with ${exit}`);
    },
  };
}

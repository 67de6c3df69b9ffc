import { expect } from '@jest/globals';
import type { StorageClass } from '../../../src/api/core.ts';
import { STORAGE_CLASSES, VOLUMES } from '../../../src/api/resources.ts';
import type { Volume, VolumeMode, VolumeSpec } from '../../../src/api/volume.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import { until } from '../../support/until.ts';
import type { Scene } from './scene.ts';

/** Storage for the Volumes of a scene. */
export interface Places<Kind extends string> {
  /** Returns the part of a Volume's spec that describes new storage of that kind. */
  storage(kind: Kind): Promise<Partial<VolumeSpec>>;
  /** Returns the traces of a deleted Volume, one sentence each. */
  traces(uid: string): Promise<string[]>;
  /** Removes from the node what failed tests left of Volumes. */
  clean(uids: readonly string[]): Promise<void>;
}

export const readyOf = ({ status }: Volume) =>
  status?.conditions?.find(({ type }) => type === 'Ready');

/**
 * Handles Volumes of a scene, each with a class of its own name, so that claims of that class match
 * no other Volume. Each wait ends after `withinMs`.
 */
export function volumesOf<Kind extends string>(
  { client, node, stowage }: Pick<Scene, 'client' | 'node' | 'stowage'>,
  places: Places<Kind>,
  withinMs = 120_000,
) {
  let count = 0;
  const uids: string[] = [];

  const get = (name: string) => client.get<Volume>(VOLUMES, name);
  const present = (name: string): Promise<Volume | undefined> =>
    get(name).catch((error: unknown) => (isNotFound(error) ? undefined : Promise.reject(error)));

  return {
    get,
    present,
    /** Creates a Volume without waiting for it. */
    async create(
      kind: Kind,
      mode: VolumeMode = 'Filesystem',
      fsType = 'ext4',
      name = `v${++count}`,
    ): Promise<Volume> {
      await client.create<StorageClass>(STORAGE_CLASSES, {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name },
        provisioner: 'kubernetes.io/no-provisioner',
        parameters: { fsType },
        volumeBindingMode: 'WaitForFirstConsumer',
      });
      const volume = await client.create<Volume>(VOLUMES, {
        apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
        kind: 'Volume',
        metadata: { name },
        spec: {
          ...{ nodeName: node, storageClassName: name, mode, onDelete: 'Delete' },
          ...(await places.storage(kind)),
        },
      });
      uids.push(volume.metadata.uid ?? '');
      return volume;
    },

    /** Waits until the message of its Ready condition contains `message`. */
    saying: (name: string, message: string) =>
      until(
        `Volume ${name}: ${message}`,
        async () => {
          const volume = await get(name);
          return readyOf(volume)?.message?.includes(message) ? volume : undefined;
        },
        withinMs,
      ),
    gone: (name: string) =>
      until(
        `Volume ${name} gone`,
        async () => ((await present(name)) === undefined ? true : undefined),
        withinMs,
      ),

    /** Deletes it by the command, which waits until it is gone. */
    async remove(name: string): Promise<void> {
      const timeout = `${withinMs / 1000}s`;
      const { exitCode, stderr } = await stowage(
        'delete',
        'volume',
        name,
        '--wait',
        '--timeout',
        timeout,
      );
      expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
    },

    /** Expects no trace of the Volume in the cluster or on the node. */
    async expectNothing({ metadata: { uid = '' } }: Volume): Promise<void> {
      expect(await places.traces(uid)).toEqual([]);
    },

    /** Removes from the node what failed tests left. */
    clean: () => places.clean(uids.splice(0)),
  };
}

import { expect } from '@jest/globals';
import type { StorageClass } from '../../../src/api/core.ts';
import { STORAGE_CLASSES, VOLUMES } from '../../../src/api/resources.ts';
import type { Volume, VolumeMode, VolumeSpec } from '../../../src/api/volume.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import { until } from '../../support/until.ts';
import type { Scene } from './scene.ts';

/** Where Volumes of a scene are made. */
export interface Places<Kind extends string> {
  /** What a Volume's spec says of new storage of that kind. */
  storage(kind: Kind): Promise<Partial<VolumeSpec>>;
  /** What is left of a Volume that is gone, one sentence each. */
  traces(uid: string): Promise<string[]>;
  /** Takes off the node what failed tests have left of Volumes. */
  clean(uids: readonly string[]): Promise<void>;
}

export const readyOf = ({ status }: Volume) =>
  status?.conditions?.find(({ type }) => type === 'Ready');

/**
 * Volumes of a scene, each of a class of its own name, so that claims of that class can have no other. Each wait
 * ends after `withinMs`.
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
    /** One that is not waited for. */
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

    /** Waits for what its Ready says. */
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

    /** Deletes it by the command, which waits for its end. */
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

    /** Neither in the cluster nor on the node is anything of it. */
    async expectNothing({ metadata: { uid = '' } }: Volume): Promise<void> {
      expect(await places.traces(uid)).toEqual([]);
    },

    /** Takes off the node what failed tests have left. */
    clean: () => places.clean(uids.splice(0)),
  };
}

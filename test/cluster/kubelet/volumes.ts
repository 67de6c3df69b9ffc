import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { StorageClass } from '../../../src/api/core.ts';
import { STORAGE_CLASSES, VOLUMES } from '../../../src/api/resources.ts';
import type { Volume, VolumeMode, VolumeSpec } from '../../../src/api/volume.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import { makeDisk } from '../../support/disks.ts';
import type { Backing } from '../../support/kinds.ts';
import { leftovers } from '../../support/leftovers.ts';
import { removeTraces } from '../../support/remove-traces.ts';
import { until } from '../../support/until.ts';
import type { Scene } from './scene.ts';

/** ms */
const SOON = 60_000;
const MIB = 1n << 20n;

export const readyOf = ({ status }: Volume) => status?.conditions?.find(({ type }) => type === 'Ready');

/** Volumes of a scene, each of a class of its own name, so that claims of that class can have no other. */
export function volumesOf({ client, node, folder, stowage }: Scene) {
  let count = 0;
  const uids: string[] = [];
  const ends: (() => Promise<void>)[] = [];
  /** Where files of Volumes are, and nothing else. */
  const directory = join(folder, 'sparse');

  const before = leftovers({ directories: [directory] });
  const get = (name: string) => client.get<Volume>(VOLUMES, name);
  const present = (name: string): Promise<Volume | undefined> =>
    get(name).catch((error: unknown) => (isNotFound(error) ? undefined : Promise.reject(error)));

  async function storage(backing: Backing): Promise<Partial<VolumeSpec>> {
    // XFS takes no less.
    if (backing === 'sparse file') return { sparseLoopDevice: { size: '304Mi', directory } };
    const [size, table] = backing === 'disk' ? ([304n, 'none'] as const) : ([640n, 'gpt'] as const);
    const disk = await makeDisk(folder, randomUUID(), size * MIB, table);
    const reading = keepReading(disk);
    ends.push(async () => {
      await reading.stop();
      await disk.remove();
    });
    return { rawBlockDevice: { devicePath: backing === 'disk' ? disk.path : disk.partition } };
  }

  return {
    get,
    present,
    /** One that is not waited for. */
    async create(
      backing: Backing,
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
          ...(await storage(backing)),
        },
      });
      uids.push(volume.metadata.uid ?? '');
      return volume;
    },

    /** Waits for what its Ready says. */
    saying: (name: string, message: string) =>
      until(`Volume ${name}: ${message}`, SOON, async () => {
        const volume = await get(name);
        return readyOf(volume)?.message?.includes(message) ? volume : undefined;
      }),
    gone: (name: string) =>
      until(`Volume ${name} gone`, SOON, async () =>
        (await present(name)) === undefined ? true : undefined,
      ),

    /** Deletes it by the command, which waits for its end. */
    async remove(name: string): Promise<void> {
      const { exitCode, stderr } = await stowage('delete', 'volume', name, '--wait', '--timeout', '60s');
      expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
    },

    /** Neither in the cluster nor on the machine is anything of it, nor of any other that was not there before. */
    async expectNothing({ metadata: { uid = '' } }: Volume): Promise<void> {
      const found = await leftovers({ uids: [uid], directories: [directory], client });
      const known = await before;
      expect(found.filter((fault) => !known.includes(fault))).toEqual([]);
    },

    /** Takes off the machine what failed tests have left. */
    async clean(): Promise<void> {
      for (const uid of uids.splice(0)) await removeTraces(uid, join(directory, uid));
      for (const end of ends.splice(0)) await end();
    },
  };
}

/** What a kernel does that reads tables itself: the partitions are always there, whoever had the disk open to write. */
function keepReading({ reread }: { reread(): Promise<void> }) {
  let reading = true;
  const read = (async () => {
    while (reading) {
      await reread();
      await sleep(20);
    }
  })();
  return {
    async stop() {
      reading = false;
      await read;
    },
  };
}

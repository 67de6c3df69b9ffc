import type { PersistentVolume, StorageClass } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import { PERSISTENT_VOLUMES, STORAGE_CLASSES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { isPvOf } from '../../model/persistent-volume.ts';
import { about, conclude } from '../lib/batch.ts';
import { listReadable } from '../lib/get/list-readable.ts';
import type { Io } from '../lib/io.ts';
import { printDone } from '../lib/objects/print.ts';

export interface DeleteClassFlags {
  ignoreNotFound?: boolean;
  output?: 'json' | 'yaml' | 'name';
}

/** Runs `stowage delete storageclass`. Throws a StowageError. */
export async function deleteClasses(
  names: readonly string[],
  flags: DeleteClassFlags,
  io: Io,
  client: KubeClient,
): Promise<void> {
  const { signal } = io;
  const volumes = await listReadable<Volume>(client, VOLUMES, io);
  const pvs = await listReadable<PersistentVolume>(client, PERSISTENT_VOLUMES, io);
  // A Volume's PersistentVolume has its name.
  const named = new Map(pvs.map((pv) => [pv.metadata.name, pv]));
  const waiting = volumes.filter((volume) => {
    const pv = named.get(volume.metadata.name);
    return needsClass(volume) && !(pv !== undefined && isPvOf(pv, volume));
  });
  const deleted: StorageClass[] = [];
  const errors: unknown[] = [];
  for (const name of names) {
    try {
      const found = await client.get<StorageClass>(STORAGE_CLASSES, name, { signal });
      refuseIfNeeded(name, waiting);
      await client.delete(STORAGE_CLASSES, name, { uid: found.metadata.uid, signal });
      deleted.push(found);
    } catch (error) {
      if (signal.aborted) throw error;
      if (flags.ignoreNotFound && isNotFound(error)) continue;
      errors.push(about(error, { kind: STORAGE_CLASSES.kind, name }));
    }
  }
  printDone(deleted, names.length > 1, 'deleted', flags.output, io);
  conclude(errors, names.length, io);
}

/**
 * Reports whether a Volume without a PersistentVolume waits for its class. A failed one may wait
 * for another class of the name.
 */
const needsClass = ({ metadata, status }: Volume): boolean =>
  metadata.deletionTimestamp === undefined && status?.phase !== 'Failed';

/** Throws a StowageError `conflict` if one of the waiting Volumes needs the class. */
function refuseIfNeeded(name: string, waiting: readonly Volume[]): void {
  const needing = waiting
    .filter(({ spec }) => spec.storageClassName === name)
    .map(({ metadata }) => metadata.name);
  const [first] = needing;
  if (first === undefined) return;
  const [who, until] =
    needing.length === 1
      ? [`Volume ${first} is not provisioned yet and needs it`, 'it is']
      : [
          `Volumes ${first} and ${needing.length - 1} more are not provisioned yet and need it`,
          'they are',
        ];
  throw new StowageError('conflict', `Storage class ${name} cannot be deleted: ${who}`, {
    hint: `Wait until ${until} Available, or see why ${first} is not: stowage why volume ${first}`,
  });
}

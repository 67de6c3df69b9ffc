import { StowageError } from '../../api/errors.ts';
import { STORAGE_CLASSES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { listAll } from '../../kube/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { conclude } from '../batch.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { nameOf } from '../objects/name.ts';
import { type DeleteFlags, removeVolumes } from '../volume/delete.ts';
import { readManifests } from './objects.ts';

/**
 * `stowage delete -f FILE`: Volumes by the rules of `delete volume`, then storage classes, but those of Volumes that stay:
 * one that is being made fails without its class. Throws a StowageError.
 */
export async function remove(
  files: readonly string[],
  flags: DeleteFlags & GlobalFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  const objects = await readManifests(files, io);
  const client = await connect();
  const volumes = objects.filter(({ kind }) => kind === VOLUMES.kind);
  const names = volumes.map(({ metadata }) => metadata.name);
  const errors = await removeVolumes(names, flags, io, client);
  const classes = objects.filter(({ kind }) => kind === STORAGE_CLASSES.kind);
  const staying = classes.length === 0 || errors.length === 0 ? [] : await notBeingDeleted(names, io, client);
  for (const found of classes) {
    const user = staying.find(({ spec }) => spec.storageClassName === found.metadata.name);
    if (user !== undefined) {
      const what = `storage class ${found.metadata.name}: not deleted, because Volume ${user.metadata.name} is of it and stays`;
      errors.push(new StowageError('conflict', what));
      continue;
    }
    try {
      await client.delete(STORAGE_CLASSES, found.metadata.name, { signal: io.signal });
      io.stdout.write(`${nameOf(found)} deleted\n`);
    } catch (error) {
      if (io.signal.aborted) throw error;
      if (!(flags.ignoreNotFound && isNotFound(error))) errors.push(error);
    }
  }
  conclude(errors, objects.length, io, flags);
}

async function notBeingDeleted(
  names: readonly string[],
  { signal }: Io,
  client: KubeClient,
): Promise<Volume[]> {
  const { items } = await listAll<Volume>(client, VOLUMES, { signal });
  return items.filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined && names.includes(metadata.name),
  );
}

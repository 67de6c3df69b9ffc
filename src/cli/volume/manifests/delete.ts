import { StowageError } from '../../../api/errors.ts';
import type { KubeObject } from '../../../api/meta.ts';
import { STORAGE_CLASSES, VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { listAll } from '../../../kube/client.ts';
import { isNotFound } from '../../../kube/errors.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { about, conclude } from '../../lib/batch.ts';
import type { GlobalFlags } from '../../lib/globals.ts';
import type { Io } from '../../lib/io.ts';
import { printDone } from '../../lib/objects/print.ts';
import { type DeleteFlags, removeVolumes } from '../delete.ts';
import { readManifests } from './objects.ts';

/**
 * Runs `stowage delete -f FILE`: deletes Volumes by the rules of `delete volume`, then storage
 * classes. Keeps classes of Volumes that stay, as provisioning fails without the class. Throws a
 * StowageError.
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
  const { removed, errors } = await removeVolumes(names, flags, io, client);
  const gone: KubeObject[] = removed;
  const classes = objects.filter(({ kind }) => kind === STORAGE_CLASSES.kind);
  const staying =
    classes.length === 0 || errors.length === 0 ? [] : await notBeingDeleted(names, io, client);
  for (const found of classes) {
    const object = { kind: found.kind, name: found.metadata.name };
    const user = staying.find(({ spec }) => spec.storageClassName === found.metadata.name);
    if (user !== undefined) {
      const what = `storage class ${object.name} is not deleted: Volume ${user.metadata.name} uses it and stays`;
      errors.push(about(new StowageError('conflict', what), object));
      continue;
    }
    try {
      await client.delete(STORAGE_CLASSES, found.metadata.name, { signal: io.signal });
      gone.push(found);
    } catch (error) {
      if (!(flags.ignoreNotFound && isNotFound(error))) errors.push(about(error, object));
      if (io.signal.aborted) break;
    }
  }
  printDone(gone, objects.length > 1, 'deleted', flags.output, io);
  conclude(errors, objects.length, io);
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

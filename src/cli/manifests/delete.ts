import type { KubeObject } from '../../api/meta.ts';
import { STORAGE_CLASSES, VOLUMES } from '../../api/resources.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { about, conclude } from '../batch.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { printDone } from '../objects/print.ts';
import { type DeleteFlags, removeVolumes } from '../volume/delete.ts';
import { readManifests } from './objects.ts';

/** `stowage delete -f FILE`: Volumes by the rules of `delete volume`, then storage classes. Throws a StowageError. */
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
  for (const found of objects.filter(({ kind }) => kind === STORAGE_CLASSES.kind)) {
    try {
      await client.delete(STORAGE_CLASSES, found.metadata.name, { signal: io.signal });
      gone.push(found);
    } catch (error) {
      const object = { kind: found.kind, name: found.metadata.name };
      if (!(flags.ignoreNotFound && isNotFound(error))) errors.push(about(error, object));
      if (io.signal.aborted) break;
    }
  }
  printDone(gone, objects.length > 1, 'deleted', flags.output, io);
  conclude(errors, objects.length, io);
}

import type { StorageClass } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import { STORAGE_CLASSES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { listAll } from '../../kube/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { about, conclude } from '../lib/batch.ts';
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
  const { items: volumes } = await listAll<Volume>(client, VOLUMES, { signal });
  const deleted: StorageClass[] = [];
  const errors: unknown[] = [];
  for (const name of names) {
    try {
      const found = await client.get<StorageClass>(STORAGE_CLASSES, name, { signal });
      refuseIfNeeded(name, volumes);
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

/** Throws a StowageError `conflict` if a Volume is not provisioned yet, which needs its class. */
function refuseIfNeeded(name: string, volumes: readonly Volume[]): void {
  const waiting = volumes
    .filter(
      ({ metadata, spec, status }) =>
        spec.storageClassName === name &&
        status?.prepared === undefined &&
        metadata.deletionTimestamp === undefined,
    )
    .map(({ metadata }) => metadata.name);
  const [first] = waiting;
  if (first === undefined) return;
  const others = waiting.length === 1 ? '' : ` and ${waiting.length - 1} more`;
  throw new StowageError(
    'conflict',
    `Storage class ${name} cannot be deleted: Volume ${first}${others} is not provisioned yet and needs it`,
    { hint: `Wait until it is Available, or see why it is not: stowage why volume ${first}` },
  );
}

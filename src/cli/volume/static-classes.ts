import type { StorageClass } from '../../api/core.ts';
import { defaultAnnotationsOf } from '../../api/default-class.ts';
import { NO_PROVISIONER } from '../../api/names.ts';
import { STORAGE_CLASSES } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Io } from '../lib/io.ts';

/** Timeout for the hint, in ms. */
const HINT_MS = 5000;

/** Returns the classes for Volumes created by hand, default classes first. */
export async function classChoices(
  client: KubeClient,
  signal: AbortSignal,
): Promise<{ name: string; value: string }[]> {
  const { items } = await listAll<StorageClass>(client, STORAGE_CLASSES, { signal });
  const isDefault = (found: StorageClass) => defaultAnnotationsOf(found).length > 0;
  return items
    .filter(({ provisioner }) => provisioner === NO_PROVISIONER)
    .sort((one, other) => Number(isDefault(other)) - Number(isDefault(one)))
    .map((found) => ({
      name: `${found.metadata.name}${isDefault(found) ? ' (default)' : ''}`,
      value: found.metadata.name,
    }));
}

/**
 * Returns a hint with the classes. None is chosen here: the class determines the file system and
 * cannot be changed later.
 */
export async function classesThere(
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<string | undefined> {
  let found: { name: string }[];
  try {
    const signal = AbortSignal.any([io.signal, AbortSignal.timeout(HINT_MS)]);
    found = await classChoices(await connect(), signal);
  } catch {
    // The missing flag is reported even if the classes are unknown.
    return undefined;
  }
  return found.length === 0
    ? 'This cluster has no storage class for Volumes. Create one: stowage create storageclass NAME --static'
    : `Set --storage-class to one for Volumes: ${found.map(({ name }) => name).join(', ')}`;
}

import type { StorageClass } from '../../api/core.ts';
import { DEFAULT_CLASS_ANNOTATION, NO_PROVISIONER } from '../../api/names.ts';
import { STORAGE_CLASSES } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Io } from '../io.ts';

/** Classes that a Volume made by hand can have, those that claims get by default first. */
export async function classChoices(io: Io, client: KubeClient): Promise<{ name: string; value: string }[]> {
  const { items } = await listAll<StorageClass>(client, STORAGE_CLASSES, { signal: io.signal });
  const isDefault = ({ metadata }: StorageClass) =>
    metadata.annotations?.[DEFAULT_CLASS_ANNOTATION] === 'true';
  return items
    .filter(({ provisioner }) => provisioner === NO_PROVISIONER)
    .sort((one, other) => Number(isDefault(other)) - Number(isDefault(one)))
    .map((found) => ({
      name: `${found.metadata.name}${isDefault(found) ? ' (default)' : ''}`,
      value: found.metadata.name,
    }));
}

/** A hint which to choose. None is chosen here: it decides about file systems, and cannot be changed afterwards. */
export async function classesThere(io: Io, connect: () => Promise<KubeClient>): Promise<string | undefined> {
  let found: { name: string }[];
  try {
    found = await classChoices(io, await connect());
  } catch {
    // What is missing is worth more than why it cannot be said what there is.
    return undefined;
  }
  return found.length === 0
    ? 'This cluster has no storage class for Volumes: make one with stowage create storageclass NAME --static.'
    : `The storage classes for Volumes here: ${found.map(({ name }) => name).join(', ')}.`;
}

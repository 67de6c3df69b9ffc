import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { ApplyOptions } from './apply.ts';
import type { Installed } from './installed.ts';

/** Removes that very object; one that is gone is no failure. */
export async function removeObject(
  client: Pick<KubeClient, 'delete'>,
  { resource, object }: Installed,
  options: ApplyOptions,
): Promise<void> {
  const { name, namespace, uid } = object.metadata;
  try {
    await client.delete(resource, name, {
      ...options,
      namespace,
      uid,
      propagationPolicy: 'Background',
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

import { isNotFound } from '../../kube/errors.ts';
import type { DeleteOptions, KubeClient } from '../../kube/types.ts';
import type { ApplyOptions } from './apply.ts';
import type { Installed } from './installed-objects.ts';

/** Removes exactly this object, by UID; a missing object is no error. */
export async function removeObject(
  client: Pick<KubeClient, 'delete'>,
  { resource, object }: Installed,
  options: ApplyOptions & Pick<DeleteOptions, 'propagationPolicy'>,
): Promise<void> {
  const { name, namespace, uid } = object.metadata;
  try {
    await client.delete(resource, name, {
      propagationPolicy: 'Background',
      ...options,
      namespace,
      uid,
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

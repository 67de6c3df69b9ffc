import type { KubeObject, Resource } from '../../api/meta.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';

/** As the API server has it; undefined when there is none. */
export async function getOrUndefined<T extends KubeObject>(
  client: Pick<KubeClient, 'get'>,
  resource: Resource,
  name: string,
  namespace?: string,
): Promise<T | undefined> {
  try {
    return await client.get<T>(resource, name, { namespace });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

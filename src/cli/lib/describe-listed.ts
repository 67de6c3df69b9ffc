import type { KubeObject, Resource } from '../../api/meta.ts';
import { VOLUME_SNAPSHOT_CLASSES, VOLUME_SNAPSHOTS } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import type { Connection } from '../../kube/connect.ts';
import type { Io } from './io.ts';
import { missingKind } from './objects/missing-snapshots.ts';
import { selected } from './objects/selector.ts';
import type { NamespacedName } from './parse.ts';

/** Flags that choose objects in place of names. */
export interface DescribeFlags {
  selector?: string;
  allNamespaces?: boolean;
}

/** Lists the names of the selected objects, or of all, in the namespace or in all namespaces. */
export async function listNames(
  resource: Resource,
  { selector, allNamespaces }: DescribeFlags,
  { signal }: Io,
  { client, namespace }: Connection,
): Promise<NamespacedName[]> {
  const list = listAll<KubeObject>(client, resource, {
    namespace: resource.namespaced && !allNamespaces ? namespace : undefined,
    labelSelector: selector,
    signal,
  });
  const { items } = await selected(selector, list).catch((error: unknown) => {
    if (resource === VOLUME_SNAPSHOTS || resource === VOLUME_SNAPSHOT_CLASSES)
      return missingKind(error);
    throw error;
  });
  return items.map(({ metadata }) => ({
    name: metadata.name,
    ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
  }));
}

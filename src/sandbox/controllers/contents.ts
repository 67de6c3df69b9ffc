import { NAMESPACE_FINALIZER } from '../builtin/core.ts';
import { CLEANUP_FINALIZER, DEFINITIONS } from '../custom-resources.ts';
import type { Kind, StoredObject } from '../kind.ts';
import { type Cluster, holders, settle } from '../objects/cluster.ts';
import { remove } from '../objects/delete.ts';
import { resourceName } from '../refusal.ts';
import { keyOf } from '../store.ts';

/**
 * Deletes the contents of a namespace and the instances of a CRD, and then removes their
 * container's finalizer.
 */
export function removeContents(cluster: Cluster): void {
  const { store } = cluster;
  const empty = (
    table: string,
    key: string,
    finalizer: string,
    contents: [Kind, StoredObject][],
  ) => {
    for (const [kind, object] of contents)
      if (object.metadata.deletionTimestamp === undefined) remove(cluster, kind, object, {});
    const container = store.get(table, key);
    if (contents.length > 0 || !container || !holders(table, container).includes(finalizer)) return;
    const without = (finalizers: string[] | undefined) =>
      finalizers?.filter((name) => name !== finalizer) ?? [];
    const { metadata, spec } = container as StoredObject & { spec: { finalizers?: string[] } };
    settle(
      cluster,
      table,
      table === 'namespaces'
        ? { ...container, spec: { ...spec, finalizers: without(spec.finalizers) } }
        : { ...container, metadata: { ...metadata, finalizers: without(metadata.finalizers) } },
    );
  };
  const tidy = () => {
    for (const { metadata } of deleting(cluster, 'namespaces'))
      empty(
        'namespaces',
        keyOf(undefined, metadata.name),
        NAMESPACE_FINALIZER,
        inNamespace(cluster, metadata.name),
      );
    for (const { metadata } of deleting(cluster, DEFINITIONS)) {
      const kind = cluster.kinds.byTable(metadata.name);
      const instances = kind ? store.list(metadata.name) : [];
      empty(
        DEFINITIONS,
        keyOf(undefined, metadata.name),
        CLEANUP_FINALIZER,
        instances.map((object) => [kind as Kind, object]),
      );
    }
  };
  store.subscribe(({ type, object }) => {
    if (type === 'DELETED' || object.metadata.deletionTimestamp !== undefined) setImmediate(tidy);
  });
}

function deleting({ store }: Cluster, table: string): StoredObject[] {
  return store.list(table).filter((object) => object.metadata.deletionTimestamp !== undefined);
}

function inNamespace({ store, kinds }: Cluster, namespace: string): [Kind, StoredObject][] {
  return kinds
    .all()
    .filter((kind) => kind.namespaced)
    .flatMap((kind) =>
      store
        .list(resourceName(kind))
        .filter((object) => object.metadata.namespace === namespace)
        .map((object): [Kind, StoredObject] => [kind, object]),
    );
}

import type { FeatureGates } from '../../api/feature-gates.ts';
import { apiVersionOf } from '../../api/meta.ts';
import type { Kind, Reader, StoredObject } from '../kind.ts';
import type { KindRegistry } from '../kind-registry.ts';
import { alreadyExists, notFound, resourceName } from '../refusal.ts';
import { keyOf, type Store } from '../store.ts';

/** State that every operation works on. */
export interface Cluster {
  store: Store;
  kinds: KindRegistry;
  now: () => Date;
  gates: FeatureGates;
  /**
   * Nodes with a kubelet, which completes the deletion of their pods. Pods of
   * other nodes are removed at once.
   */
  kubeletNodes: ReadonlySet<string>;
}

export interface WriteOptions {
  /** Everything is checked and nothing is stored. */
  dryRun: boolean;
  fieldValidation: 'Strict' | 'Warn' | 'Ignore';
  /** Called with each problem that is accepted nevertheless. */
  warn: (message: string) => void;
}

/** Returns an object. Throws a 404. */
export function read(
  cluster: Cluster,
  kind: Kind,
  namespace: string | undefined,
  name: string,
): StoredObject {
  const object = cluster.store.get(resourceName(kind), keyOf(namespace, name));
  if (object === undefined) throw notFound(kind, name);
  return inVersion(kind, object);
}

/** Returns an object in the requested version of its kind: versions differ only in name. */
export function inVersion(kind: Kind, object: StoredObject): StoredObject {
  const apiVersion = apiVersionOf(kind);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

/** Returns the function by which admission reads other objects. */
export function readerOf({ store }: Cluster): Reader {
  return (table, name) => store.get(table, keyOf(undefined, name));
}

export function countsGenerations(kind: Kind): boolean {
  return kind.custom || kind.generations === true;
}

/** Throws a 409 if an object of that name exists. */
export function insist(cluster: Cluster, kind: Kind, object: StoredObject): void {
  const { namespace, name } = object.metadata;
  const there = cluster.store.get(resourceName(kind), keyOf(namespace, name));
  if (there !== undefined)
    throw alreadyExists(kind, name, there.metadata.deletionTimestamp !== undefined);
}

/** Formats a time as metav1.Time: RFC 3339 with whole seconds. */
export function timestamp(now: Date): string {
  return `${now.toISOString().slice(0, 19)}Z`;
}

/** Returns the finalizers that hold an object; those of a namespace are in its spec, too. */
export function holders(table: string, { metadata, spec }: StoredObject): string[] {
  const own =
    table === 'namespaces'
      ? (spec as { finalizers?: string[] } | undefined)?.finalizers
      : undefined;
  return [...(metadata.finalizers ?? []), ...(own ?? [])];
}

/**
 * Stores a new state of an object, or removes the object if it is being
 * deleted and nothing holds it.
 */
export function settle(cluster: Cluster, table: string, object: StoredObject): StoredObject {
  const { deletionTimestamp, deletionGracePeriodSeconds: grace = 0 } = object.metadata;
  return deletionTimestamp !== undefined && holders(table, object).length === 0 && grace === 0
    ? cluster.store.remove(table, object)
    : cluster.store.put(table, object);
}

import type { FeatureGates } from '../../api/feature-gates.ts';
import { apiVersionOf } from '../../api/meta.ts';
import type { Kind, Reader, StoredObject } from '../kind.ts';
import type { KindRegistry } from '../kind-registry.ts';
import { alreadyExists, notFound, resourceName } from '../refusal.ts';
import { keyOf, type Store } from '../store.ts';

/** What every operation works on. */
export interface Cluster {
  store: Store;
  kinds: KindRegistry;
  now: () => Date;
  gates: FeatureGates;
  /** Nodes with a kubelet, which lets go of their pods when they are deleted; of others pods go at once. */
  kubeletNodes: ReadonlySet<string>;
}

export interface WriteOptions {
  /** Everything is checked and nothing is stored. */
  dryRun: boolean;
  fieldValidation: 'Strict' | 'Warn' | 'Ignore';
  /** Told about what was accepted nevertheless. */
  warn: (message: string) => void;
}

/** Throws a 404. */
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

/** An object as the version of its kind that is asked has it: the others differ in name. */
export function inVersion(kind: Kind, object: StoredObject): StoredObject {
  const apiVersion = apiVersionOf(kind);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

/** By which admission looks at other objects. */
export function readerOf({ store }: Cluster): Reader {
  return (table, name) => store.get(table, keyOf(undefined, name));
}

export function countsGenerations(kind: Kind): boolean {
  return kind.custom || kind.generations === true;
}

/** Throws a 409 when there is one of that name. */
export function insist(cluster: Cluster, kind: Kind, object: StoredObject): void {
  const { namespace, name } = object.metadata;
  const there = cluster.store.get(resourceName(kind), keyOf(namespace, name));
  if (there !== undefined)
    throw alreadyExists(kind, name, there.metadata.deletionTimestamp !== undefined);
}

/** RFC 3339 with whole seconds, as metav1.Time. */
export function timestamp(now: Date): string {
  return `${now.toISOString().slice(0, 19)}Z`;
}

/** What keeps an object that is to be deleted; namespaces have finalizers of their spec, too. */
export function holders(table: string, { metadata, spec }: StoredObject): string[] {
  const own =
    table === 'namespaces'
      ? (spec as { finalizers?: string[] } | undefined)?.finalizers
      : undefined;
  return [...(metadata.finalizers ?? []), ...(own ?? [])];
}

/** Stores a new state of an object, or removes it when it is being deleted and nothing holds it any more. */
export function settle(cluster: Cluster, table: string, object: StoredObject): StoredObject {
  const { deletionTimestamp, deletionGracePeriodSeconds: grace = 0 } = object.metadata;
  return deletionTimestamp !== undefined && holders(table, object).length === 0 && grace === 0
    ? cluster.store.remove(table, object)
    : cluster.store.put(table, object);
}

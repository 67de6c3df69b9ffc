import type { KubeObject, ObjectMeta, OwnerReference } from '../../api/meta.ts';
import type { StoredObject } from '../kind.ts';
import { type Cluster, settle } from '../objects/cluster.ts';
import { FOREGROUND, ORPHAN, remove } from '../objects/delete.ts';
import { type Change, keyOf } from '../store.ts';

/** Location of an object in the store. */
interface StoreKey {
  table: string;
  key: string;
}

class GarbageCollector {
  readonly #cluster: Cluster;
  readonly #places = new Map<string, StoreKey>();
  readonly #dependents = new Map<string, Set<string>>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    cluster.store.subscribe((change) => this.#follow(change));
  }

  #follow({ type, table, object, previous }: Change): void {
    const { uid = '', namespace, name, ownerReferences = [] } = object.metadata;
    for (const owner of previous?.metadata.ownerReferences ?? [])
      this.#dependents.get(owner.uid)?.delete(uid);
    if (type === 'DELETED') this.#places.delete(uid);
    else {
      this.#places.set(uid, { table, key: keyOf(namespace, name) });
      for (const owner of ownerReferences) {
        const dependents = this.#dependents.get(owner.uid) ?? new Set();
        this.#dependents.set(owner.uid, dependents.add(uid));
      }
    }
    const affected =
      type === 'DELETED'
        ? [...(this.#dependents.get(uid) ?? []), ...ownerReferences.map((owner) => owner.uid)]
        : ownerReferences.length > 0 || object.metadata.deletionTimestamp !== undefined
          ? [uid, ...ownerReferences.map((owner) => owner.uid)]
          : [];
    if (affected.length > 0)
      setImmediate(() => {
        for (const one of affected) this.#examine(one);
      });
  }

  #find(uid: string): { table: string; object: StoredObject } | undefined {
    const place = this.#places.get(uid);
    const object = place && this.#cluster.store.get(place.table, place.key);
    return place && object ? { table: place.table, object } : undefined;
  }

  #examine(uid: string): void {
    const found = this.#find(uid);
    if (found === undefined) return;
    const { metadata } = found.object;
    if (metadata.deletionTimestamp !== undefined) this.#workOff(found.table, found.object);
    else if (metadata.ownerReferences?.length)
      this.#collect(found.table, found.object, metadata.ownerReferences);
  }

  /**
   * Deletes a dependent if all its owners are gone; otherwise removes its
   * references to owners that are gone.
   */
  #collect(table: string, object: StoredObject, owners: OwnerReference[]): void {
    const left = owners.filter((owner) => this.#exists(owner));
    if (left.length === owners.length) return;
    if (left.length === 0) this.#delete(table, object, 'Background');
    else this.#write(table, object, { ownerReferences: left });
  }

  /**
   * Reports whether an owner exists. An owner of a kind that is not served cannot be
   * found, so it counts as existing.
   */
  #exists(owner: OwnerReference): boolean {
    return this.#places.has(owner.uid) || this.#cluster.kinds.byReference(owner) === undefined;
  }

  #workOff(table: string, object: StoredObject): void {
    const { uid = '', finalizers = [] } = object.metadata;
    const dependents = [...(this.#dependents.get(uid) ?? [])].flatMap(
      (one) => this.#find(one) ?? [],
    );
    const done = (finalizer: string) =>
      this.#write(table, object, { finalizers: finalizers.filter((name) => name !== finalizer) });
    if (finalizers.includes(ORPHAN)) {
      for (const dependent of dependents)
        this.#write(dependent.table, dependent.object, {
          ownerReferences: ownersOf(dependent.object).filter((owner) => owner.uid !== uid),
        });
      done(ORPHAN);
    } else if (finalizers.includes(FOREGROUND)) {
      const blocking = dependents.filter((one) =>
        ownersOf(one.object).some((owner) => owner.uid === uid && owner.blockOwnerDeletion),
      );
      for (const dependent of dependents)
        if (dependent.object.metadata.deletionTimestamp === undefined)
          this.#delete(dependent.table, dependent.object, 'Foreground');
      if (blocking.length === 0) done(FOREGROUND);
    }
  }

  #write(table: string, object: StoredObject, metadata: Partial<ObjectMeta>): void {
    settle(this.#cluster, table, { ...object, metadata: { ...object.metadata, ...metadata } });
  }

  #delete(
    table: string,
    object: StoredObject,
    propagationPolicy: 'Background' | 'Foreground',
  ): void {
    const kind = this.#cluster.kinds.byTable(table);
    if (kind) remove(this.#cluster, kind, object, { propagationPolicy });
  }
}

/**
 * Deletes objects whose owners are all gone, and processes the finalizers of the orphan and
 * foreground policies. Acts after the write that triggers it, as the real controller does.
 */
export function collectGarbage(cluster: Cluster): void {
  new GarbageCollector(cluster);
}

const ownersOf = (object: KubeObject) => object.metadata.ownerReferences ?? [];

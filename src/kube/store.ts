import type { KubeObject } from '../api/meta.ts';

export type Change<T extends KubeObject> =
  | { type: 'added'; object: T; old?: never }
  | { type: 'updated'; object: T; old: T }
  | { type: 'deleted'; object: T; old?: never };

/** Number of deletions remembered: the late response to a write must not revive an object. */
const TOMBSTONES = 1000;

/**
 * Objects known to an informer. Each method returns the changes that it made. Resource versions are
 * compared as integers: Kubernetes 1.35 declares them as such (KEP-5504), and etcd's always were.
 */
export class ObjectStore<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #deleted = new Set<string>();
  #recorded = new Set<string>();

  get(name: string, namespace?: string): T | undefined {
    return this.#objects.get(keyOf(name, namespace));
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  /** Stores an object that a watch reported. A newer state recorded from a write stays. */
  put(object: T): Change<T>[] {
    const old = this.get(object.metadata.name, object.metadata.namespace);
    return old !== undefined && !isNewer(object, old) ? [] : this.#set(object, old);
  }

  /** Removes an object that a watch reported as deleted. */
  remove(object: T): Change<T>[] {
    const old = this.get(object.metadata.name, object.metadata.namespace);
    this.#bury(object);
    // Another object of that name was created since, and recorded from a write.
    if (old === undefined || (!isSame(old, object) && isNewer(old, object))) return [];
    return this.#drop(old);
  }

  /** Marks the start of a list: states recorded from now on may be newer than the list. */
  beginList(): void {
    this.#recorded = new Set();
  }

  /**
   * Replaces all objects by a list, even an older one: an API server restored from a backup
   * continues from the backup's versions.
   */
  replace(items: T[], resourceVersion: string): Change<T>[] {
    const changes: Change<T>[] = [];
    const listed = new Set<string>();
    for (const item of items) {
      const key = keyOf(item.metadata.name, item.metadata.namespace);
      listed.add(key);
      const old = this.#objects.get(key);
      if (!this.#recordedAfter(key, resourceVersion)) changes.push(...this.#set(item, old));
    }
    for (const [key, old] of this.#objects) {
      if (!listed.has(key) && !this.#recordedAfter(key, resourceVersion))
        changes.push(...this.#drop(old));
    }
    return changes;
  }

  /**
   * Stores the response to a write, which may arrive before or after the watch reports the write,
   * or the object's deletion.
   */
  recordWrite(object: T): Change<T>[] {
    const { name, namespace, uid = '' } = object.metadata;
    if (this.#deleted.has(uid)) return [];
    if (isGone(object)) return this.remove(object);
    const changes = this.put(object);
    if (changes.length > 0) this.#recorded.add(keyOf(name, namespace));
    return changes;
  }

  #recordedAfter(key: string, resourceVersion: string): boolean {
    const version = this.#objects.get(key)?.metadata.resourceVersion ?? '';
    return this.#recorded.has(key) && compareVersions(version, resourceVersion) > 0;
  }

  #set(object: T, old: T | undefined): Change<T>[] {
    // An object that was deleted since the backup exists again: accept responses to its writes
    // again.
    this.#deleted.delete(object.metadata.uid ?? '');
    if (old !== undefined && isSame(old, object)) {
      if (old.metadata.resourceVersion === object.metadata.resourceVersion) return [];
      this.#objects.set(keyOf(object.metadata.name, object.metadata.namespace), object);
      return [{ type: 'updated', object, old }];
    }
    const changes = old === undefined ? [] : this.#drop(old);
    this.#objects.set(keyOf(object.metadata.name, object.metadata.namespace), object);
    return [...changes, { type: 'added', object }];
  }

  #drop(object: T): Change<T>[] {
    this.#bury(object);
    this.#objects.delete(keyOf(object.metadata.name, object.metadata.namespace));
    return [{ type: 'deleted', object }];
  }

  #bury({ metadata: { uid } }: T): void {
    if (uid === undefined) return;
    this.#deleted.add(uid);
    if (this.#deleted.size > TOMBSTONES) {
      for (const oldest of this.#deleted) {
        this.#deleted.delete(oldest);
        break;
      }
    }
  }
}

const keyOf = (name: string, namespace = ''): string => `${namespace}/${name}`;

/**
 * Reports whether an object is gone. The write that removes the last finalizer returns such an
 * object, with the version from before the write.
 */
const isGone = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined &&
  !metadata.finalizers?.length &&
  !metadata.deletionGracePeriodSeconds;

const isSame = (a: KubeObject, b: KubeObject): boolean => a.metadata.uid === b.metadata.uid;

const isNewer = (a: KubeObject, b: KubeObject): boolean =>
  compareVersions(a.metadata.resourceVersion ?? '', b.metadata.resourceVersion ?? '') > 0;

/** Returns a number below 0, 0, or above 0 if `a` is older, equal, or newer. '' is the oldest. */
export function compareVersions(a: string, b: string): number {
  // Decimal integers without leading zeros, of up to 64 bits: the longer one is the larger.
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : Number(a > b);
}

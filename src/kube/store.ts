import type { KubeObject } from '../api/meta.ts';

export type Change<T extends KubeObject> =
  | { type: 'added'; object: T; old?: never }
  | { type: 'updated'; object: T; old: T }
  | { type: 'deleted'; object: T; old?: never };

/** As many deletions as writes can still be under way are remembered, so that their late answers revive nothing. */
const TOMBSTONES = 1000;

/**
 * The objects an informer knows. Each method returns what it changed. Resource versions are compared as integers,
 * which Kubernetes 1.35 declares them to be (KEP-5504), and which etcd's always were.
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

  /** A watch said that this object is there. What was recorded from a later write's answer stays. */
  put(object: T): Change<T>[] {
    const old = this.get(object.metadata.name, object.metadata.namespace);
    return old !== undefined && !isNewer(object, old) ? [] : this.#set(object, old);
  }

  /** A watch said that this object was deleted. */
  remove(object: T): Change<T>[] {
    const old = this.get(object.metadata.name, object.metadata.namespace);
    this.#bury(object);
    // Another one of that name was made since, and recorded from the write's answer.
    if (old === undefined || (!isSame(old, object) && isNewer(old, object))) return [];
    return this.#drop(old);
  }

  /** Before a list is asked for: what is recorded from now on may be newer than that list. */
  beginList(): void {
    this.#recorded = new Set();
  }

  /** The whole truth, also where it is older: an API server restored from a backup counts from the backup on. */
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

  /** A write's answer, which may come before or after the watch tells of that write, or of the object's deletion. */
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
    // One that was deleted since the backup is back, and its writes are answered again.
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

/** So is an object answered by the write that let go of it, under the version that it had before. */
const isGone = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined &&
  !metadata.finalizers?.length &&
  !metadata.deletionGracePeriodSeconds;

const isSame = (a: KubeObject, b: KubeObject): boolean => a.metadata.uid === b.metadata.uid;

const isNewer = (a: KubeObject, b: KubeObject): boolean =>
  compareVersions(a.metadata.resourceVersion ?? '', b.metadata.resourceVersion ?? '') > 0;

/** Below, at or above 0 as `a` is older than, as old as, or newer than `b`. '' is the oldest. */
export function compareVersions(a: string, b: string): number {
  // Decimal integers without leading zeros, of up to 64 bits: the longer one is the larger.
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : Number(a > b);
}

import type { StoredObject } from './kind.ts';

/** Single write. `object` is the new state, or the last one for a deletion. */
export interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  version: number;
  table: string;
  object: StoredObject;
  previous?: StoredObject;
}

/**
 * Number of changes that are kept, roughly as in the API server's watch
 * cache. Older versions are forgotten.
 */
const HISTORY_LENGTH = 5000;

export function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

const keyOfObject = (object: StoredObject) =>
  keyOf(object.metadata.namespace, object.metadata.name);

/** All objects, the counter of their versions, and the latest changes. */
export class Store {
  #version: number;
  #forgotten: number;
  readonly #tables = new Map<string, Map<string, StoredObject>>();
  /**
   * Sorted lists of tables since their last change: controllers list a table
   * for each object of another one.
   */
  readonly #lists = new Map<string, readonly StoredObject[]>();
  readonly #history: Change[] = [];
  readonly #listeners = new Set<(change: Change) => void>();

  /** `firstVersion`: versions up to this one count as forgotten. */
  constructor(firstVersion: number) {
    this.#version = firstVersion;
    this.#forgotten = firstVersion;
  }

  get version(): number {
    return this.#version;
  }

  get(table: string, key: string): StoredObject | undefined {
    return this.#tables.get(table)?.get(key);
  }

  /** Returns all objects of a table, in the order of their keys. */
  list(table: string): StoredObject[] {
    const known = this.#lists.get(table) ?? sorted(this.#tables.get(table) ?? new Map());
    this.#lists.set(table, known);
    return [...known];
  }

  /** Returns the objects of a table at a version; undefined if that version is forgotten. */
  listAt(table: string, version: number): StoredObject[] | undefined {
    const changes = this.changesSince(version);
    if (changes === undefined) return undefined;
    const objects = new Map(this.#tables.get(table));
    for (const change of changes.reverse()) {
      if (change.table !== table) continue;
      const key = keyOfObject(change.object);
      if (change.previous === undefined) objects.delete(key);
      else objects.set(key, change.previous);
    }
    return sorted(objects);
  }

  /** Returns the changes after a version, oldest first; undefined if some are forgotten. */
  changesSince(version: number): Change[] | undefined {
    if (version < this.#forgotten) return undefined;
    return this.#history.slice(
      this.#history.findLastIndex((change) => change.version <= version) + 1,
    );
  }

  /** Stores an object with a new resourceVersion, and calls the listeners before it returns. */
  put(table: string, object: StoredObject): StoredObject {
    const objects = this.#tables.get(table) ?? new Map<string, StoredObject>();
    this.#tables.set(table, objects);
    const stored = this.#numbered(object);
    const key = keyOfObject(stored);
    const previous = objects.get(key);
    objects.set(key, stored);
    this.#lists.delete(table);
    this.#record({
      type: previous === undefined ? 'ADDED' : 'MODIFIED',
      version: this.#version,
      table,
      object: stored,
      ...(previous === undefined ? {} : { previous }),
    });
    return stored;
  }

  /** Removes an object. The DELETED change has its last state under a new version. */
  remove(table: string, object: StoredObject): StoredObject {
    const previous = this.get(table, keyOfObject(object));
    if (previous === undefined) return object;
    this.#tables.get(table)?.delete(keyOfObject(object));
    this.#lists.delete(table);
    const last = this.#numbered(object);
    this.#record({ type: 'DELETED', version: this.#version, table, object: last, previous });
    return last;
  }

  /** Calls `listener` for every later change; returns the function that ends this. */
  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #numbered(object: StoredObject): StoredObject {
    this.#version += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
  }

  #record(change: Change): void {
    this.#history.push(change);
    if (this.#history.length > HISTORY_LENGTH)
      this.#forgotten = this.#history.shift()?.version ?? 0;
    for (const listener of this.#listeners) listener(change);
  }
}

function sorted(objects: Map<string, StoredObject>): StoredObject[] {
  return [...objects].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, object]) => object);
}

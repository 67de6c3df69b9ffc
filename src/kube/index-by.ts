import type { KubeObject } from '../api/meta.ts';
import type { Informer } from './informer.ts';

/**
 * Indexes the objects of an informer by another key than their name, and keeps the index current.
 * Lookups need no list. Call it before other handlers are registered, and before the informer
 * starts.
 * @param keyOf returns one key or several; undefined leaves the object out
 */
export function indexBy<T extends KubeObject>(
  informer: Informer<T>,
  keyOf: (object: T) => string | readonly string[] | undefined,
): (key: string) => T[] {
  /** Objects by key, then by namespace and name. */
  const index = new Map<string, Map<string, T>>();

  const keysOf = (object: T): readonly string[] => [keyOf(object) ?? []].flat();

  function remove(object: T): void {
    for (const key of keysOf(object)) {
      const objects = index.get(key);
      objects?.delete(idOf(object));
      if (objects?.size === 0) index.delete(key);
    }
  }

  informer.onChange(({ type, object, old }) => {
    remove(old ?? object);
    if (type === 'deleted') return;
    for (const key of keysOf(object)) {
      const objects = index.get(key) ?? new Map<string, T>();
      index.set(key, objects.set(idOf(object), object));
    }
  });
  return (key) => [...(index.get(key)?.values() ?? [])];
}

const idOf = ({ metadata: { name, namespace = '' } }: KubeObject): string => `${namespace}/${name}`;

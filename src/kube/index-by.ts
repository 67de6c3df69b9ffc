import type { KubeObject } from '../api/meta.ts';
import type { Informer } from './informer.ts';

/**
 * The objects of an informer by something else than their name, kept up to date as they change: what goes by it needs
 * no list. Make it before other handlers of changes are registered, and before the informer is started.
 * @param keyOf undefined for an object that is not to be found; several for one that is found under each
 */
export function indexBy<T extends KubeObject>(
  informer: Informer<T>,
  keyOf: (object: T) => string | readonly string[] | undefined,
): (key: string) => T[] {
  /** By key, then by namespace and name. */
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

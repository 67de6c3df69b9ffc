import { describe, expect, test } from '@jest/globals';
import type { StoredObject } from '../../src/sandbox/kind.ts';
import { Store } from '../../src/sandbox/store.ts';

const object = (name: string, value = 0): StoredObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name },
  value,
});
const names = (objects: StoredObject[] | undefined) =>
  objects?.map(({ metadata }) => metadata.name);

describe('Store', () => {
  test('numbers every write, of any table, by one counter', () => {
    const store = new Store(10);
    expect(store.put('xs', object('a')).metadata.resourceVersion).toBe('11');
    expect(store.put('ys', object('a')).metadata.resourceVersion).toBe('12');
    expect(store.remove('xs', object('a')).metadata.resourceVersion).toBe('13');
  });

  test('lists a table at an earlier version', () => {
    const store = new Store(0);
    store.put('xs', object('b', 1));
    store.put('xs', object('a', 1));
    store.put('ys', object('other'));
    store.put('xs', object('a', 2));
    store.remove('xs', object('b'));
    store.put('xs', object('c', 1));
    expect(names(store.list('xs'))).toEqual(['a', 'c']);
    expect(names(store.listAt('xs', 2))).toEqual(['a', 'b']);
    expect(store.listAt('xs', 2)?.[0]?.value).toBe(1);
    expect(names(store.listAt('xs', 0))).toEqual([]);
  });

  test('remembers 5,000 changes', () => {
    const store = new Store(0);
    for (let i = 0; i < 5001; i += 1) store.put('xs', object('a', i));
    expect(store.changesSince(0)).toBeUndefined();
    expect(store.listAt('xs', 0)).toBeUndefined();
    expect(store.changesSince(1)).toHaveLength(5000);
    expect(store.changesSince(5000)?.map((change) => change.version)).toEqual([5001]);
  });

  test('has no changes from before its first version', () =>
    expect(new Store(10).changesSince(9)).toBeUndefined());
});

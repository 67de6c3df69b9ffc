import { expect, test } from '@jest/globals';
import type { KubeObject } from '../../src/api/meta.ts';
import { indexBy } from '../../src/kube/index-by.ts';
import type { Informer } from '../../src/kube/informer.ts';
import { type Change, ObjectStore } from '../../src/kube/store.ts';
import { widget } from '../support/fake-api.ts';

interface Widget extends KubeObject {
  on?: string;
}

const on = (name: string, version: number, node?: string, namespace?: string): Widget => {
  const object: Widget = widget(name, version, node === undefined ? {} : { on: node });
  if (namespace !== undefined) object.metadata.namespace = namespace;
  return object;
};

/** Creates an index of a store's changes. */
function indexed(keyOf: Parameters<typeof indexBy<Widget>>[1]) {
  const store = new ObjectStore<Widget>();
  let handler = (_: Change<Widget>) => {};
  const informer = {
    onChange: (given: typeof handler) => {
      handler = given;
    },
  };
  const found = indexBy(informer as Informer<Widget>, keyOf);
  return { store, found, tell: (changes: Change<Widget>[]) => changes.forEach(handler) };
}

test('indexBy follows objects that are added, updated, replaced and deleted', () => {
  const { store, tell, found: on1 } = indexed((object) => object.on);
  const found = (key: string) => on1(key).map(({ metadata }) => metadata.name);

  tell(store.replace([on('a', 1, 'n1'), on('b', 2, 'n1'), on('c', 3)], '3'));
  expect([found('n1'), found('n2'), found('')]).toEqual([['a', 'b'], [], []]);
  // Objects of the same name in two namespaces are both found.
  tell(store.put(on('a', 4, 'n1', 'x')));
  expect(found('n1')).toEqual(['a', 'b', 'a']);
  tell(store.put(on('b', 5, 'n2')));
  expect([found('n1'), found('n2')]).toEqual([['a', 'a'], ['b']]);
  // The index returns current objects.
  tell(store.put({ ...on('b', 6, 'n2'), apiVersion: 'new' }));
  expect(on1('n2')[0]?.apiVersion).toBe('new');
  tell(store.put(on('c', 7, 'n2')));
  tell(store.remove(on('b', 8, 'n3')));
  expect(found('n2')).toEqual(['c']);
  // Another object of that name.
  const other = on('c', 9, 'n1');
  other.metadata.uid = 'another';
  tell(store.put(other));
  expect([found('n1'), found('n2')]).toEqual([['a', 'a', 'c'], []]);
  tell(store.replace([], '10'));
  expect([found('n1'), found('n2')]).toEqual([[], []]);
});

test('indexBy lists an object with several keys under each of its current keys', () => {
  const { store, tell, found: on1 } = indexed((object) => object.on?.split(' '));
  const found = () => ['n1', 'n2', 'n3'].map((key) => on1(key).length);
  tell(store.put(on('a', 1, 'n1 n2')));
  expect(found()).toEqual([1, 1, 0]);
  tell(store.put(on('a', 2, 'n2 n3')));
  expect(found()).toEqual([0, 1, 1]);
  tell(store.remove(on('a', 3)));
  expect(found()).toEqual([0, 0, 0]);
});

import { beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../src/api/meta.ts';
import { type Change, compareVersions, ObjectStore } from '../../src/kube/store.ts';
import { widget } from '../support/fake-api.ts';

let store: ObjectStore<KubeObject>;
beforeEach(() => {
  store = new ObjectStore();
  store.replace([widget('a', 5), widget('b', 6)], '6');
});

const told = (changes: Change<KubeObject>[]) =>
  changes.map(
    ({ type, object }) => `${type} ${object.metadata.name}@${object.metadata.resourceVersion}`,
  );

const reborn = (name: string, version: number): KubeObject => ({
  ...widget(name, version),
  metadata: { name, uid: 'another', resourceVersion: String(version) },
});

test.each([
  ['9', '10', -1],
  ['10', '9', 1],
  ['10', '10', 0],
  ['', '1', -1],
  ['9007199254740993', '9007199254740992', 1],
])('compareVersions orders %s and %s', (a, b, sign) => {
  expect(Math.sign(compareVersions(a, b))).toBe(sign);
});

describe('watch', () => {
  test.each<[string, KubeObject, string[]]>([
    ['a newer version updates', widget('a', 7), ['updated a@7']],
    ['the same version changes nothing', widget('a', 5), []],
    ['an older version changes nothing', widget('a', 4), []],
    ['a new object is added', widget('c', 7), ['added c@7']],
    ['another object of that name replaces', reborn('a', 7), ['deleted a@5', 'added a@7']],
  ])('%s', (_, object, changes) => {
    expect(told(store.put(object))).toEqual(changes);
  });

  test('an update includes the previous object', () => {
    expect(store.put(widget('a', 7))[0]?.old).toEqual(widget('a', 5));
  });

  test('a deletion removes the object, even with the version of the last write', () => {
    expect(told(store.remove(widget('a', 5)))).toEqual(['deleted a@5']);
    expect(store.get('a')).toBeUndefined();
    expect(store.remove(widget('a', 9))).toEqual([]);
  });

  test('the deletion of an earlier object keeps a later object of the same name', () => {
    store.recordWrite(reborn('a', 9));
    expect(store.remove(widget('a', 8))).toEqual([]);
    expect(store.get('a')).toEqual(reborn('a', 9));
  });

  test('objects of the same name in two namespaces are separate', () => {
    store.put({
      ...widget('a', 7),
      metadata: { name: 'a', namespace: 'ns', resourceVersion: '7' },
    });
    expect(store.list()).toHaveLength(3);
    expect(store.get('a', 'ns')?.metadata.resourceVersion).toBe('7');
  });
});

describe('list', () => {
  test('adds new objects, and deletes objects that are gone', () => {
    store.beginList();
    expect(told(store.replace([widget('a', 5), widget('c', 8)], '9'))).toEqual([
      'added c@8',
      'deleted b@6',
    ]);
  });

  test('replaces newer objects, as the server may be restored from a backup', () => {
    store.beginList();
    expect(told(store.replace([widget('a', 2)], '3'))).toEqual(['updated a@2', 'deleted b@6']);
    expect(told(store.put(widget('a', 4)))).toEqual(['updated a@4']);
  });

  test('restores an object deleted since the backup, and accepts later writes of it', () => {
    store.remove(widget('a', 7));
    store.beginList();
    expect(told(store.replace([widget('a', 2)], '3'))).toEqual(['added a@2', 'deleted b@6']);
    expect(told(store.recordWrite(widget('a', 4)))).toEqual(['updated a@4']);
  });

  test('does not undo writes that were recorded while it was read', () => {
    store.beginList();
    store.recordWrite(widget('a', 10));
    store.recordWrite(widget('c', 11));
    expect(told(store.replace([widget('a', 5)], '9'))).toEqual(['deleted b@6']);
    expect(store.list().map((object) => object.metadata.name)).toEqual(['a', 'c']);
  });
});

describe('recordWrite', () => {
  const deleting = (metadata: object) => {
    const object = widget('a', 5);
    return {
      ...object,
      metadata: { ...object.metadata, deletionTimestamp: '2030-01-01T00:00:00Z', ...metadata },
    };
  };

  test('deletes an object whose last finalizer the write removed', () => {
    expect(told(store.recordWrite(deleting({})))).toEqual(['deleted a@5']);
    expect(store.get('a')).toBeUndefined();
    expect(store.remove(widget('a', 9))).toEqual([]);
  });

  test.each([[{ finalizers: ['x'] }], [{ deletionGracePeriodSeconds: 30 }]])(
    'keeps an object whose deletion is not complete: %j',
    (held) => {
      expect(told(store.recordWrite(deleting({ ...held, resourceVersion: '8' })))).toEqual([
        'updated a@8',
      ]);
    },
  );

  test('stores a newer version, and the watch does not report it again', () => {
    expect(told(store.recordWrite(widget('a', 8)))).toEqual(['updated a@8']);
    expect(store.put(widget('a', 7))).toEqual([]);
    expect(store.put(widget('a', 8))).toEqual([]);
  });

  test('ignores an older version', () => {
    expect(store.recordWrite(widget('a', 4))).toEqual([]);
  });

  test.each(['watch', 'list'])('does not restore an object that a %s removed', (by) => {
    if (by === 'watch') store.remove(widget('a', 9));
    else store.replace([], '9');
    expect(store.recordWrite(widget('a', 8))).toEqual([]);
    expect(store.get('a')).toBeUndefined();
  });
});

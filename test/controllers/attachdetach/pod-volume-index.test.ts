import { expect, test } from '@jest/globals';
import { createPodVolumeIndex } from '../../../src/controllers/attachdetach/pod-volume-index.ts';
import { entry } from '../../support/attachment-view.ts';

test('a pod maps to the Volumes that list it, as long as they do', () => {
  const names = createPodVolumeIndex();
  names.note({ uid: 'u1', name: 'v1' }, [entry('n1', {}, 'p1', 'p2')]);
  names.note({ uid: 'u2', name: 'v2' }, [entry('n1', {}, 'p1')]);
  expect(names.of('uid-p1')).toEqual(['v1', 'v2']);
  names.note({ uid: 'u1', name: 'v1' }, [entry('n1', {}, 'p2')]);
  expect(names.of('uid-p1')).toEqual(['v2']);
  expect(names.of('uid-p2')).toEqual(['v1']);
  names.note({ uid: 'u2', name: 'v2' }, []);
  expect(names.of('uid-p1')).toEqual([]);
});

test('two Volumes of the same name are distinguished by UID', () => {
  const names = createPodVolumeIndex();
  names.note({ uid: 'u1', name: 'v1' }, [entry('n1', {}, 'p1')]);
  names.note({ uid: 'u2', name: 'v1' }, [entry('n1', {}, 'p1')]);
  names.note({ uid: 'u1', name: 'v1' }, []);
  expect(names.of('uid-p1')).toEqual(['v1']);
});

import { expect, test } from '@jest/globals';
import type { KubeNode } from '../../../src/api/core.ts';
import { lifeOf } from '../../../src/controllers/volume/node-life.ts';
import { createLooks } from '../../../src/controllers/volume/observation-times.ts';

const node = (bootID: string, ready?: string): KubeNode => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1' },
  status: {
    nodeInfo: { bootID },
    conditions: [
      { type: 'DiskPressure', status: 'False' },
      ...(ready === undefined ? [] : [{ type: 'Ready', status: ready }]),
    ],
  },
});

test('a life ends with a boot, and when the node is Ready no more', () => {
  const lives = [node('a', 'True'), node('b', 'True'), node('a', 'False')].map(lifeOf);
  expect(new Set(lives).size).toBe(3);
  expect(lifeOf(node('a', 'False'))).toBe(lifeOf(node('a', 'Unknown')));
  expect(lifeOf(undefined)).toBe(
    lifeOf({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }),
  );
});

test('a look at a node counts until the node has another life', () => {
  let life = 'one';
  const looks = createLooks((name) => (name === 'n3' ? '' : life));
  looks.note('u', 'n1', 5);
  looks.note('w', 'n3', 6);
  expect([looks.last('u', 'n1'), looks.last('w', 'n3'), looks.last('x', 'n1')]).toEqual([
    5,
    6,
    undefined,
  ]);
  // Of a node that shares its directory.
  expect(looks.last('u', 'n2')).toBe(undefined);
  life = 'two';
  expect([looks.last('u', 'n1'), looks.last('w', 'n3')]).toEqual([undefined, 6]);
  looks.forget('w');
  expect(looks.last('w', 'n3')).toBe(undefined);
});

test('a device that udev prefers is so until its node has another life, or the volume is on another one', () => {
  let life = 'one';
  const looks = createLooks(() => life);
  looks.notePath('u', 'n1');
  expect([looks.hasPath('u', 'n1'), looks.hasPath('u', 'n2'), looks.hasPath('w', 'n1')]).toEqual([
    ...[true, false, false],
  ]);
  life = 'two';
  expect(looks.hasPath('u', 'n1')).toBe(false);
  looks.notePath('u', 'n1');
  looks.forget('u');
  expect(looks.hasPath('u', 'n1')).toBe(false);
});

import { expect, test } from '@jest/globals';
import type { KubeNode } from '../../src/api/core.ts';
import { createObservationTimes } from '../../src/controllers/volume/observation-times.ts';
import { incarnationText } from '../../src/model/node-incarnation.ts';
import { FakeClock } from '../support/fake-clock.ts';

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

test('the incarnation of a node changes with a boot and when it is no longer Ready', () => {
  const lives = [node('a', 'True'), node('b', 'True'), node('a', 'False')].map(incarnationText);
  expect(new Set(lives).size).toBe(3);
  expect(incarnationText(node('a', 'False'))).toBe(incarnationText(node('a', 'Unknown')));
  expect(incarnationText(undefined)).toBe(
    incarnationText({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }),
  );
});

test('an observation time is valid until the node has another incarnation', () => {
  let life = 'one';
  const clock = { now: () => now, timeOfDay: () => now };
  let now = 5;
  const times = createObservationTimes((name) => (name === 'n3' ? '' : life), clock);
  times.note('u', 'n1');
  now = 6;
  times.note('w', 'n3');
  expect([times.last('u', 'n1'), times.last('w', 'n3'), times.last('x', 'n1')]).toEqual([
    5,
    6,
    undefined,
  ]);
  // A node that shares the volume's directory.
  expect(times.last('u', 'n2')).toBe(undefined);
  life = 'two';
  expect([times.last('u', 'n1'), times.last('w', 'n3')]).toEqual([undefined, 6]);
  times.forget('w');
  expect(times.last('w', 'n3')).toBe(undefined);
});

test.each([-7_200_000, 86_400_000])(
  'an observation is as long ago as it was, with a clock that is set by %i ms',
  async (step) => {
    const clock = new FakeClock();
    const times = createObservationTimes(() => '', clock);
    times.note('u', 'n1');
    await clock.advance(10_000);
    clock.set(step);
    await clock.advance(10_000);
    expect(clock.timeOfDay() - (times.last('u', 'n1') ?? 0)).toBe(20_000);
  },
);

test('a preferred path is valid only on its node, until the node has another incarnation', () => {
  let life = 'one';
  const times = createObservationTimes(() => life, new FakeClock());
  times.notePath('u', 'n1');
  expect([times.hasPath('u', 'n1'), times.hasPath('u', 'n2'), times.hasPath('w', 'n1')]).toEqual([
    ...[true, false, false],
  ]);
  life = 'two';
  expect(times.hasPath('u', 'n1')).toBe(false);
  times.notePath('u', 'n1');
  times.forget('u');
  expect(times.hasPath('u', 'n1')).toBe(false);
});

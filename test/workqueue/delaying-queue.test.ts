import { beforeEach, expect, test } from '@jest/globals';
import { createDelays, type Delays } from '../../src/workqueue/delaying-queue.ts';
import { FakeClock } from '../support/fake-clock.ts';

let clock: FakeClock;
let due: string[];
let delays: Delays;

beforeEach(() => {
  clock = new FakeClock();
  const start = clock.now();
  due = [];
  delays = createDelays(clock, (key) => due.push(`${key}@${clock.now() - start}`));
});

test('keys that are due within 50 ms of each other share a timer, and none is early', async () => {
  for (const [index, key] of ['a', 'b', 'c', 'd'].entries()) delays.add(key, 1001 + index * 20);
  expect(clock.sleeping).toEqual([1050, 1100]);
  await clock.advance(1100);
  expect(due).toEqual(['a@1050', 'b@1050', 'c@1050', 'd@1100']);
  expect(clock.sleeping).toEqual([]);
});

test('the sooner time of a key counts, and the later timer has no effect', async () => {
  delays.add('a', 1000);
  delays.add('b', 1000);
  delays.add('a', 2000);
  expect(clock.sleeping).toEqual([1000]);
  delays.add('a', 500);
  delays.add('b', 500);
  await clock.advance(2000);
  expect(due).toEqual(['a@500', 'b@500']);
  expect(clock.sleeping).toEqual([]);
});

test('a key that is added while another is handed out is due at its own time', async () => {
  delays = createDelays(clock, (key) => {
    due.push(`${key}@${clock.now() - start}`);
    if (key === 'a')
      for (const [next, ms] of [
        ['b', 100],
        ['d', 900],
      ] as const)
        delays.add(next, ms);
  });
  const start = clock.now();
  delays.add('a', 100);
  delays.add('c', 500);
  await clock.advance(2000);
  expect(due).toEqual(['a@100', 'b@200', 'c@500', 'd@1000']);
});

test('a key can be added again, even while it is handed out', async () => {
  let again = 2;
  const times: number[] = [];
  delays = createDelays(clock, (key) => {
    times.push(clock.now());
    if (again-- > 0) delays.add(key, 100);
  });
  delays.add('a', 100);
  await clock.advance(1000);
  const [first = 0] = times;
  expect(times.map((time) => time - first)).toEqual([0, 100, 200]);
});

test('clear() drops all keys and timers', async () => {
  delays.add('a', 100);
  delays.add('b', 500);
  delays.clear();
  expect(clock.sleeping).toEqual([]);
  await clock.advance(1000);
  expect(due).toEqual([]);
});

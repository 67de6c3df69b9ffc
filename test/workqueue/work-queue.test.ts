import { beforeEach, expect, test } from '@jest/globals';
import { createWorkQueue, type WorkQueue } from '../../src/workqueue/work-queue.ts';
import { FakeClock } from '../support/fake-clock.ts';

let clock: FakeClock;
let queue: WorkQueue;

beforeEach(() => {
  clock = new FakeClock();
  queue = workQueue();
});

/** Creates a queue. The group of a key is the part before its first `/`. */
function workQueue(): WorkQueue {
  return createWorkQueue({
    clock,
    random: () => 0,
    groupOf: (key) => key.split('/')[0] ?? '',
    perGroup: 2,
  });
}

/** Returns the next key, or 'waiting' if none is available now. */
async function next(): Promise<string | undefined | 'waiting'> {
  return Promise.race([queue.get(), clock.advance(0).then(() => 'waiting' as const)]);
}

test('a key is queued once, in the order it was first added', async () => {
  for (const key of ['a', 'b', 'a']) queue.add(key);
  expect([await queue.get(), await queue.get(), await next()]).toEqual(['a', 'b', 'waiting']);
});

test('a worker that waits gets the next key', async () => {
  const got = queue.get();
  queue.add('a');
  expect([await got, queue.depth()]).toEqual(['a', 0]);
});

test('a key that is added while in process is queued once more when done', async () => {
  queue.add('a');
  await queue.get();
  queue.add('a');
  queue.add('a');
  expect(queue.depth()).toBe(0);
  queue.done('a');
  expect(await queue.get()).toBe('a');
  queue.done('a');
  expect(queue.depth()).toBe(0);
});

test('a key passed directly to a waiting worker counts as in process', async () => {
  const got = queue.get();
  queue.add('a');
  await got;
  queue.add('a');
  expect(queue.depth()).toBe(0);
  queue.done('a');
  expect(queue.depth()).toBe(1);
});

test.each([
  [[500, 100], 100],
  [[100, 500], 100],
])('the shortest of the delays %j applies', async (delays, wins) => {
  for (const ms of delays) queue.addAfter('a', ms);
  expect(clock.sleeping[0]).toBe(wins);
  await clock.advance(wins - 1);
  expect(queue.depth()).toBe(0);
  await clock.advance(1);
  expect(queue.depth()).toBe(1);
  await clock.advance(1000);
  expect(queue.depth()).toBe(1);
});

test('rate-limited delays double for one key and start again after forget', async () => {
  const waits: (number | undefined)[] = [];
  for (const forget of [false, false, false, true]) {
    if (forget) queue.forget('a');
    queue.addRateLimited('a');
    waits.push(clock.sleeping[0]);
    await clock.advance(10_000);
    queue.done((await queue.get()) ?? '');
  }
  expect(waits).toEqual([1000, 2000, 4000, 1000]);
  expect(queue.retries()).toBe(4);
});

test('a key counts as added each time that it is queued', async () => {
  queue.add('a');
  queue.add('a');
  queue.addAfter('b', 50);
  expect(queue.adds()).toBe(1);
  await clock.advance(50);
  expect(queue.adds()).toBe(2);
  await queue.get();
  queue.add('a');
  expect(queue.adds()).toBe(2);
  queue.done('a');
  expect(queue.adds()).toBe(3);
});

test('depth and age cover only keys that wait for a worker', async () => {
  expect(queue.oldestAgeMs()).toBe(0);
  queue.add('a');
  await clock.advance(30);
  queue.add('a');
  queue.add('b');
  await clock.advance(10);
  expect([queue.depth(), queue.oldestAgeMs()]).toEqual([2, 40]);
  await queue.get();
  expect([queue.depth(), queue.oldestAgeMs()]).toEqual([1, 10]);
});

test('a shutdown hands out queued keys, drops delays, and releases waiting workers', async () => {
  queue.add('a');
  queue.addAfter('b', 10);
  queue.shutDown();
  queue.add('c');
  queue.addAfter('d', 10);
  expect(clock.sleeping).toEqual([]);
  expect([await queue.get(), await queue.get()]).toEqual(['a', undefined]);

  const other = workQueue();
  const waiting = other.get();
  other.shutDown();
  expect(await waiting).toBeUndefined();
});

test('a group at its limit of keys in process delays no other group', async () => {
  for (const key of ['a/1', 'a/2', 'a/3', 'b/1']) queue.add(key);
  const got = [await queue.get(), await queue.get(), await queue.get()];
  expect(got.sort()).toEqual(['a/1', 'a/2', 'b/1']);
  const waiting = queue.get();
  queue.add('b/2');
  expect(await waiting).toBe('b/2');
  const next = queue.get();
  expect(queue.depth()).toBe(1);
  queue.done('a/2');
  expect(await next).toBe('a/3');
});

test('groups take turns', async () => {
  for (const key of ['a/1', 'a/2', 'b/1', 'c/1']) queue.add(key);
  const got = [await queue.get(), await queue.get(), await queue.get(), await queue.get()];
  expect(got).toEqual(['a/1', 'b/1', 'c/1', 'a/2']);
});

test('a key whose group changed counts for the group it was queued in', async () => {
  let group = 'a';
  queue = createWorkQueue({ clock, random: () => 0, groupOf: () => group, perGroup: 1 });
  queue.add('x');
  await queue.get();
  group = 'b';
  queue.add('x');
  queue.done('x');
  expect(await queue.get()).toBe('x');
  group = 'a';
  queue.add('y');
  expect(await queue.get()).toBe('y');
});

test('the limit of keys in process is read again for each key', async () => {
  let perGroup = 1;
  const changing = createWorkQueue({
    clock,
    random: () => 0,
    groupOf: () => '',
    perGroup: () => perGroup,
  });
  for (const key of ['a', 'b', 'c', 'd']) changing.add(key);
  expect(await changing.get()).toBe('a');
  const others = [changing.get(), changing.get()];
  perGroup = 2;
  changing.done('a');
  expect(await Promise.all(others)).toEqual(['b', 'c']);
});

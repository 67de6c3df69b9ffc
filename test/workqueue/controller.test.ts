import { beforeEach, expect, test } from '@jest/globals';
import { runController } from '../../src/workqueue/controller.ts';
import { createWorkQueue, type WorkQueue } from '../../src/workqueue/work-queue.ts';
import { FakeClock, until } from '../support/fake-clock.ts';
import { memoryLogger } from '../support/logger.ts';

let clock: FakeClock;
let queue: WorkQueue;
let logger: ReturnType<typeof memoryLogger>;

beforeEach(() => {
  clock = new FakeClock();
  queue = workQueue(1);
  logger = memoryLogger();
});

const workQueue = (perGroup: number) =>
  createWorkQueue({ clock, random: () => 0, groupOf: (key) => key.slice(1), perGroup });
type Reconcile = Parameters<typeof runController>[0]['reconcile'];
const run = (reconcile: Reconcile) => runController({ queue, reconcile, logger, clock });

test('logs each failure once with its key, and retries with increasing delay', async () => {
  const tried: number[] = [];
  const start = clock.now();
  run(async () => {
    tried.push(clock.now() - start);
    throw new Error('boom');
  });
  queue.add('a');
  await clock.advance(3000);
  expect(tried).toEqual([0, 1000, 3000]);
  expect(logger.lines).toHaveLength(3);
  expect(logger.lines[0]?.fields).toMatchObject({ key: 'a', err: { message: 'boom' } });
});

test('a reconcile that throws before its first await is a failure as well', async () => {
  run(() => {
    throw new Error('at once');
  });
  queue.add('a');
  await clock.advance(0);
  expect([logger.lines.length, clock.sleeping]).toEqual([1, [1000]]);
});

test('success resets the backoff', async () => {
  const outcomes = [false, false, true, false];
  run(async () => {
    if (outcomes.shift() === false) throw new Error('boom');
    return undefined;
  });
  queue.add('a');
  await clock.advance(3000);
  expect(outcomes).toEqual([false]);
  queue.add('a');
  await clock.advance(0);
  expect(clock.sleeping).toEqual([1000]);
});

test('a key is requeued after the time that its reconcile returns', async () => {
  let times = 0;
  run(async () => {
    times += 1;
    return { requeueAfterMs: 50 };
  });
  queue.add('a');
  await clock.advance(100);
  expect(times).toBe(3);
});

test('reconciles at most perGroup keys of a group at once, and no key twice at once', async () => {
  queue = workQueue(2);
  const active: string[] = [];
  const release: (() => void)[] = [];
  run((key) => {
    active.push(key);
    return new Promise((resolve) =>
      release.push(() => {
        active.splice(active.indexOf(key), 1);
        resolve(undefined);
      }),
    );
  });
  for (const key of ['a', 'b', 'c']) queue.add(key);
  await clock.advance(0);
  expect(active).toEqual(['a', 'b']);
  queue.add('a');
  release[1]?.();
  await clock.advance(0);
  expect(active).toEqual(['a', 'c']);
  release[0]?.();
  await clock.advance(0);
  expect(active).toEqual(['c', 'a']);
});

test('yields to the event loop after 50 keys', async () => {
  queue = workQueue(10);
  let done = 0;
  run(async () => {
    done += 1;
    return undefined;
  });
  for (let key = 0; key < 500; key++) queue.add(`k${key}`);
  const perTurn: number[] = [];
  while (done < 500) {
    const before = done;
    await new Promise(setImmediate);
    perTurn.push(done - before);
  }
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(50);
});

test('stop waits for the running reconcile, and starts no other', async () => {
  const seen: string[] = [];
  let finish: () => void = () => {};
  const controller = run((key) => {
    seen.push(key);
    return new Promise((resolve) => {
      finish = () => resolve(undefined);
    });
  });
  queue.add('a');
  queue.add('b');
  await until(() => seen.length === 1);
  const stopped = controller.stop(1000);
  await clock.advance(999);
  finish();
  expect([await stopped, seen]).toEqual([true, ['a']]);
  expect(clock.sleeping).toEqual([]);
});

test('stop aborts a reconcile that runs past the deadline', async () => {
  let signal: AbortSignal | undefined;
  const controller = run((_, given) => {
    signal = given;
    return new Promise(() => {});
  });
  queue.add('a');
  await until(() => signal !== undefined);
  const stopped = controller.stop(1000);
  await clock.advance(999);
  expect(signal?.aborted).toBe(false);
  await clock.advance(1);
  expect([await stopped, signal?.aborted]).toEqual([false, true]);
});

test('the around hook also covers the log entry of a failure', async () => {
  const within: string[] = [];
  let place = 'outside';
  const around = async (work: () => Promise<void>) => {
    place = 'inside';
    await work();
    place = 'outside';
  };
  const placed = { error: () => void within.push(`logged ${place}`) };
  runController({
    queue,
    async reconcile() {
      within.push(`worked ${place}`);
      throw new Error('boom');
    },
    logger: placed,
    clock,
    around,
  });
  queue.add('a');
  await clock.advance(0);
  expect(within).toEqual(['worked inside', 'logged inside']);
});

test.each<[string, Reconcile, string]>([
  ['nothing', async () => undefined, 'success'],
  ['a requeue time', async () => ({ requeueAfterMs: 60_000 }), 'requeue-after'],
  ['a retry request', async () => ({ retry: true }), 'retry'],
  [
    'an error',
    async () => {
      throw new Error('boom');
    },
    'error',
  ],
])('reports a reconcile that ends with %s, with its duration', async (_, end, result) => {
  const told: unknown[] = [];
  runController({
    queue,
    logger,
    clock,
    onReconciled: (...end) => told.push(end),
    reconcile: async (...call) => {
      await clock.sleep(250);
      return end(...call);
    },
  });
  queue.add('a');
  await clock.advance(250);
  await until(() => told.length > 0);
  expect(told).toEqual([[result, 250]]);
});

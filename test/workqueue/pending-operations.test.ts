import { expect, test } from '@jest/globals';
import { createOperations } from '../../src/workqueue/pending-operations.ts';

type Kind = 'attach' | 'detach';

function table(caps = { inAll: 2, perGroup: 1 }) {
  let now = 0;
  const ended: string[] = [];
  const begun: string[] = [];
  const ends = new Map<string, (succeeded: boolean) => void>();
  const signals = new Map<string, AbortSignal>();
  const operations = createOperations<Kind>({
    clock: { now: () => now },
    caps: { attach: caps, detach: caps },
    onEnd: ({ key, kind }, succeeded, ms) => ended.push(`${kind} ${key} ${succeeded} ${ms}`),
  });
  return {
    operations,
    begun,
    ended,
    signals,
    start: (key: string, kind: Kind, group: string) =>
      operations.start(key, kind, group, (signal) => {
        begun.push(key);
        signals.set(key, signal);
        return new Promise((resolve) => ends.set(key, resolve));
      }),
    async end(key: string, succeeded = true) {
      ends.get(key)?.(succeeded);
      await new Promise(setImmediate);
    },
    pass(ms: number) {
      now += ms;
    },
  };
}

test('a key has at most one operation, of any kind', async () => {
  const { operations, start, end, begun } = table();
  expect(start('v1', 'attach', 'n1')).toBe(true);
  expect(start('v1', 'attach', 'n1')).toBe(false);
  expect(start('v1', 'detach', 'n2')).toBe(false);
  expect(operations.of('v1')).toMatchObject({ kind: 'attach', group: 'n1', running: true });
  await end('v1');
  expect(operations.of('v1')).toBeUndefined();
  expect(start('v1', 'detach', 'n1')).toBe(true);
  expect(begun).toEqual(['v1', 'v1']);
});

test('a node at its cap delays no other node, and starts the next when one ends', async () => {
  const { operations, start, end, begun } = table({ inAll: 10, perGroup: 1 });
  start('v1', 'attach', 'n1');
  start('v2', 'attach', 'n1');
  start('v3', 'attach', 'n2');
  expect(begun).toEqual(['v1', 'v3']);
  expect(operations.of('v2')).toMatchObject({ running: false });
  await end('v1');
  expect(begun).toEqual(['v1', 'v3', 'v2']);
});

test('operations over the total cap start in the order they were added', async () => {
  const { start, end, begun } = table({ inAll: 2, perGroup: 2 });
  for (const [key, node] of [
    ['v1', 'n1'],
    ['v2', 'n2'],
    ['v3', 'n3'],
    ['v4', 'n4'],
  ] as const) {
    start(key, 'attach', node);
  }
  expect(begun).toEqual(['v1', 'v2']);
  await end('v2');
  expect(begun).toEqual(['v1', 'v2', 'v3']);
  await end('v1');
  expect(begun).toEqual(['v1', 'v2', 'v3', 'v4']);
});

test('attaches at their cap do not delay detaches', () => {
  const { start, begun } = table({ inAll: 1, perGroup: 1 });
  start('v1', 'attach', 'n1');
  start('v2', 'attach', 'n1');
  start('v3', 'detach', 'n1');
  expect(begun).toEqual(['v1', 'v3']);
});

test('the duration of an operation counts from its start, not from its queueing', async () => {
  const { operations, start, end, pass, ended } = table({ inAll: 1, perGroup: 1 });
  start('v1', 'attach', 'n1');
  start('v2', 'attach', 'n1');
  pass(70);
  expect(operations.list().map(({ key, since, running }) => [key, since, running])).toEqual([
    ['v1', 0, true],
    ['v2', 0, false],
  ]);
  await end('v1');
  pass(5);
  await end('v2', false);
  expect(ended).toEqual(['attach v1 true 70', 'attach v2 false 5']);
});

test('stop drops waiting operations, waits for running ones, and starts no more', async () => {
  const { operations, start, end, begun, signals } = table({ inAll: 1, perGroup: 1 });
  start('v1', 'attach', 'n1');
  start('v2', 'attach', 'n1');
  const stopped = operations.stop(1000, () => new Promise(() => {}));
  expect(start('v3', 'detach', 'n1')).toBe(false);
  expect(signals.get('v1')?.aborted).toBe(false);
  await end('v1');
  await stopped;
  expect(begun).toEqual(['v1']);
});

test('stop aborts an operation that does not end in time', async () => {
  const { operations, start, signals } = table();
  start('v1', 'attach', 'n1');
  await operations.stop(1000, () => Promise.resolve());
  expect(signals.get('v1')?.aborted).toBe(true);
});

test('canceling a running operation frees its key and slot, and ignores its end', async () => {
  const { operations, start, end, begun, signals, ended } = table({ inAll: 1, perGroup: 1 });
  start('v1', 'attach', 'n1');
  start('v2', 'attach', 'n1');
  const [first, signal] = [signals.get('v1'), signals.get('v2')];
  operations.cancel('v1');
  expect([first?.aborted, signal]).toEqual([true, undefined]);
  expect(begun).toEqual(['v1', 'v2']);
  expect(ended).toEqual(['attach v1 false 0']);
  await end('v1');
  expect(ended).toEqual(['attach v1 false 0']);
  expect(operations.list().map(({ key, running }) => [key, running])).toEqual([['v2', true]]);
  expect(start('v1', 'detach', 'n2')).toBe(true);
});

test('a canceled waiting operation never begins', async () => {
  const { operations, start, end, begun } = table({ inAll: 1, perGroup: 1 });
  start('v1', 'attach', 'n1');
  start('v2', 'attach', 'n1');
  operations.cancel('v2');
  operations.cancel('nobody');
  await end('v1');
  expect(begun).toEqual(['v1']);
  expect(operations.list()).toEqual([]);
});

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { keepReloading } from '../../src/manager/reload.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { memoryLogger } from '../support/logger.ts';

interface Told {
  workers: number;
  nodes: Map<string, object>;
}

const told = (workers: number, nodes: [string, object][] = []): Told => ({
  workers,
  nodes: new Map(nodes),
});

let clock: FakeClock;
let logger: ReturnType<typeof memoryLogger>;
let file: Told | Error;
let taken: Told[];
let hangUp: () => void;
let stopping: AbortController;
let running: Promise<void>;

beforeEach(() => {
  clock = new FakeClock();
  logger = memoryLogger();
  file = told(1);
  taken = [];
  stopping = new AbortController();
  running = keepReloading(
    {
      path: '/etc/stowage.yaml',
      async read() {
        if (file instanceof Error) throw file;
        return file;
      },
      apply(settings) {
        if (settings.workers > 100) throw new Error('too many');
        taken.push(settings);
      },
      onHangup(listener) {
        hangUp = listener;
      },
      clock,
      logger,
      signal: stopping.signal,
    },
    file,
  );
});
afterEach(async () => {
  stopping.abort();
  await running;
});

test('applies a changed file within 5 s, and only once', async () => {
  await clock.advance(60_000);
  expect(taken).toEqual([]);
  file = told(1, [['n1', { port: 1 }]]);
  await clock.advance(5000);
  expect(taken).toEqual([file]);
  await clock.advance(60_000);
  expect(taken).toHaveLength(1);
  expect(logger.lines.map(({ message }) => message)).toEqual(['configuration reloaded']);
});

test('SIGHUP applies the file at once, even if it is unchanged', async () => {
  file = told(2);
  hangUp();
  await clock.advance(0);
  expect(taken).toEqual([told(2)]);
  hangUp();
  await clock.advance(0);
  expect(taken).toHaveLength(2);
});

test('logs an invalid file once, keeps the settings, and applies a corrected file', async () => {
  file = new Error('nodes.n1.port: no');
  await clock.advance(20_000);
  file = told(1000);
  await clock.advance(20_000);
  expect(taken).toEqual([]);
  expect(logger.lines.map(({ level, fields }) => [level, (fields.err as Error).message])).toEqual([
    ['error', 'nodes.n1.port: no'],
    ['error', 'too many'],
  ]);
  file = told(1);
  await clock.advance(5000);
  expect(taken).toEqual([told(1)]);
});

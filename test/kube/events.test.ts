import { beforeEach, expect, test } from '@jest/globals';
import type { KubeEvent } from '../../src/api/core.ts';
import type { KubeObject, Status } from '../../src/api/meta.ts';
import { ApiError } from '../../src/kube/errors.ts';
import { createEventRecorder, type EventRecorder } from '../../src/kube/events.ts';
import { status, widget } from '../support/fake-api.ts';
import { FakeClock, until } from '../support/fake-clock.ts';
import { memoryLogger } from '../support/logger.ts';

type Patch = Pick<KubeEvent, 'count' | 'message' | 'lastTimestamp'>;

let clock: FakeClock;
let logger: ReturnType<typeof memoryLogger>;
let recorder: EventRecorder;
let created: KubeEvent[];
let patched: { name: string; namespace: string | undefined; patch: Patch }[];
/** Errors of the next requests, in order. */
let failing: unknown[];

const refusal = (code: number) => new ApiError(status(code, 'x') as Status, code, 'x');
const fail = () => {
  const error = failing.shift();
  if (error !== undefined) throw error;
};

beforeEach(() => {
  clock = new FakeClock();
  logger = memoryLogger();
  created = [];
  patched = [];
  failing = [];
  recorder = createEventRecorder({
    client: {
      async create<T extends KubeObject>(_: unknown, object: T): Promise<T> {
        fail();
        created.push(object as unknown as KubeEvent);
        return object;
      },
      async patch(_, name, patch, options) {
        fail();
        patched.push({ name, namespace: options?.namespace, patch: patch as Patch });
        return {} as never;
      },
    },
    clock,
    component: 'stowage',
    host: 'host1',
    logger,
  });
});

const object = widget('a', 7);

test('an Event has the time of day, also after that was set', async () => {
  clock.set(-7_200_000);
  recorder.event(object, 'Normal', 'Made', 'it is there');
  await recorder.flush(1000);
  expect(created).toMatchObject([{ lastTimestamp: '2029-12-31T22:00:00Z' }]);
});

test('writes an Event with its object, reason and message', async () => {
  recorder.event(object, 'Normal', 'Made', 'it is there');
  await recorder.flush(1000);
  expect(created).toEqual([
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: expect.stringMatching(/^a\.[0-9a-f]+$/), namespace: 'default' },
      involvedObject: {
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        name: 'a',
        uid: 'uid-a',
        resourceVersion: '7',
      },
      type: 'Normal',
      reason: 'Made',
      message: 'it is there',
      count: 1,
      firstTimestamp: '2030-01-01T00:00:00Z',
      lastTimestamp: '2030-01-01T00:00:00Z',
      source: { component: 'stowage' },
      reportingComponent: 'stowage',
      reportingInstance: 'host1',
    },
  ]);
});

test('an Event is in the namespace of its object', async () => {
  recorder.event({ ...object, metadata: { name: 'a', namespace: 'ns' } }, 'Normal', 'Made', 'x');
  recorder.event({ ...object, metadata: { name: 'a', namespace: 'ns' } }, 'Normal', 'Made', 'x');
  await recorder.flush(1000);
  expect(created[0]?.metadata.namespace).toBe('ns');
  expect(created[0]?.involvedObject.namespace).toBe('ns');
  expect(patched[0]?.namespace).toBe('ns');
});

test.each([
  ['a'.repeat(253), 253],
  [`${'a'.repeat(229)}.b`, 253],
])('truncates names and messages to the limits of the server', async (name, limit) => {
  recorder.event(widget(name, 1), 'Normal', 'Made', 'm'.repeat(2000));
  await recorder.flush(1000);
  expect(created[0]?.metadata.name.length).toBeLessThanOrEqual(limit);
  expect(created[0]?.metadata.name).not.toMatch(/\.\./);
  expect(created[0]?.message).toHaveLength(1024);
});

test('increments the count of a repeated Event', async () => {
  for (let i = 0; i < 3; i += 1) {
    recorder.event(object, 'Warning', 'Refused', 'no');
    await clock.advance(1000);
  }
  await recorder.flush(1000);
  expect(created).toHaveLength(1);
  expect(patched.map(({ name, patch }) => [name, patch])).toEqual([
    [created[0]?.metadata.name, { count: 2, lastTimestamp: '2030-01-01T00:00:01Z', message: 'no' }],
    [created[0]?.metadata.name, { count: 3, lastTimestamp: '2030-01-01T00:00:02Z', message: 'no' }],
  ]);
});

test('another object, type, reason or message is another Event', async () => {
  recorder.event(object, 'Normal', 'Made', 'x');
  recorder.event(object, 'Warning', 'Made', 'x');
  recorder.event(object, 'Normal', 'Gone', 'x');
  recorder.event(object, 'Normal', 'Made', 'y');
  recorder.event(
    { ...object, metadata: { ...object.metadata, uid: 'other' } },
    'Normal',
    'Made',
    'x',
  );
  await recorder.flush(1000);
  expect([created.length, new Set(created.map(({ metadata }) => metadata.name)).size]).toEqual([
    5, 5,
  ]);
});

test('creates an Event again that the server has deleted', async () => {
  recorder.event(object, 'Normal', 'Made', 'x');
  await recorder.flush(1000);
  failing = [refusal(404)];
  recorder.event(object, 'Normal', 'Made', 'x');
  recorder.event(object, 'Normal', 'Made', 'x');
  await recorder.flush(1000);
  expect([created.map(({ count }) => count), patched.map(({ patch }) => patch.count)]).toEqual([
    [1, 1],
    [2],
  ]);
  expect(patched[0]?.name).toBe(created[1]?.metadata.name);
});

test('combines the messages after the tenth into one Event', async () => {
  for (let i = 0; i < 13; i += 1) recorder.event(object, 'Warning', 'Refused', `no ${i}`);
  await recorder.flush(1000);
  expect(created.map(({ message }) => message).slice(9)).toEqual([
    'no 9',
    '(combined from similar events): no 10',
  ]);
  expect(patched.map(({ patch }) => [patch.count, patch.message])).toEqual([
    [2, '(combined from similar events): no 11'],
    [3, '(combined from similar events): no 12'],
  ]);
});

test('stops combining messages after ten minutes without an event', async () => {
  for (let i = 0; i < 12; i += 1) recorder.event(object, 'Warning', 'Refused', `no ${i}`);
  await recorder.flush(1000);
  await clock.advance(10 * 60_000 + 1);
  recorder.event(object, 'Warning', 'Refused', 'no 12');
  await recorder.flush(1000);
  expect(created.at(-1)?.message).toBe('no 12');
});

test('logs each failed write, and writes the Events after it', async () => {
  failing = [refusal(403), new Error('down')];
  for (const message of ['x', 'y', 'z']) recorder.event(object, 'Normal', 'Made', message);
  await recorder.flush(1000);
  expect(logger.lines.map(({ fields }) => fields.message)).toEqual(['x', 'y']);
  expect(created.map(({ message }) => message)).toEqual(['z']);
});

test('the queue is bounded, and flush() times out if the server hangs', async () => {
  const hanging = createEventRecorder({
    client: { create: () => new Promise(() => {}), patch: () => new Promise(() => {}) },
    ...{ clock, component: 'stowage', host: 'host1', logger },
  });
  for (let i = 0; i < 10_002; i += 1) hanging.event(object, 'Normal', 'Made', `${i}`);
  expect(logger.lines.map(({ fields }) => fields.message)).toEqual(['10001']);
  let flushed = false;
  const flushing = hanging.flush(1000).then(() => {
    flushed = true;
  });
  await clock.advance(999);
  expect(flushed).toBe(false);
  await clock.advance(1);
  await until(() => flushed);
  await flushing;
});

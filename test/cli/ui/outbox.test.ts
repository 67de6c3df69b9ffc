import { describe, expect, test } from '@jest/globals';
import { createOutbox, type FeedState } from '../../../src/cli/ui/outbox.ts';
import { BATCH_MS, CHUNK, pump } from '../../../src/cli/ui/pump.ts';
import type { FeedMessage, NodeRow, SourceState, VolumeRow } from '../../../src/ui/protocol.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const NONE = new Map<string, never>();

/** State with rows that have only a name and a phase. */
function scene(count = 0) {
  const volumes = new Map<string, VolumeRow>();
  const nodes = new Map<string, NodeRow>([['n1', { name: 'n1' } as NodeRow]]);
  const put = (name: string, phase: string) =>
    volumes.set(name, { name, phase } as VolumeRow) && undefined;
  for (let index = 0; index < count; index += 1) put(`v${index}`, 'Pending');
  const source: SourceState = { state: 'listed' };
  const state: FeedState = {
    start: () => ({ type: 'start', server: 's', version: '1' }),
    connection: () => ({ type: 'connection', connected: true, since: 't' }),
    sources: () => ['volumes', 'nodes'],
    source: (kind) => ({ type: 'source', kind, ...source }),
    names: (kind) => (kind === 'volumes' ? volumes : kind === 'nodes' ? nodes : NONE).keys(),
    row: (kind, name) => (kind === 'volumes' ? volumes : nodes).get(name) as never,
  };
  const outbox = createOutbox(state);
  return { volumes, put, outbox };
}

const messagesIn = (text: string): FeedMessage[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

const typesIn = (text: string): string[] =>
  messagesIn(text).map((message) => {
    if (message.type === 'rows') return `rows ${message.kind} ${message.rows.length}`;
    if (message.type === 'gone') return `gone ${message.names}`;
    return message.type === 'source' ? `source ${message.kind}` : message.type;
  });

describe('an outbox', () => {
  test('starts with the whole state, in chunks, and "listed" after the rows', () => {
    const { outbox } = scene(5);
    expect(typesIn(outbox.take(3))).toEqual(
      ['start', 'connection', 'rows volumes 3', 'source nodes'].filter(
        (type) => type !== 'source nodes',
      ),
    );
    expect(outbox.isEmpty()).toBe(false);
    expect(typesIn(outbox.take(3))).toEqual([
      'rows volumes 2',
      'rows nodes 1',
      'source volumes',
      'source nodes',
    ]);
    expect(outbox.isEmpty()).toBe(true);
    expect(outbox.take(3)).toBe('');
  });

  test('sends the latest state of an object once, whatever happened before', () => {
    const { outbox, put, volumes } = scene(3);
    outbox.take(10);
    for (const phase of ['Pending', 'Failed', 'Available']) {
      put('v0', phase);
      outbox.markRow('volumes', 'v0');
    }
    volumes.delete('v1');
    outbox.markRow('volumes', 'v1');
    put('v3', 'Pending');
    outbox.markRow('volumes', 'v3');
    volumes.delete('v3');
    outbox.markRow('volumes', 'v3');
    expect(messagesIn(outbox.take(10))).toEqual([
      { type: 'rows', kind: 'volumes', rows: [{ name: 'v0', phase: 'Available' }] },
      { type: 'gone', kind: 'volumes', names: ['v1', 'v3'] },
    ]);
  });

  test('a change of one of 10,000 Volumes costs one row', () => {
    const { outbox, put } = scene(10_000);
    while (!outbox.isEmpty()) outbox.take(CHUNK);
    put('v77', 'Failed');
    outbox.markRow('volumes', 'v77');
    expect(typesIn(outbox.take(CHUNK))).toEqual(['rows volumes 1']);
  });

  test('sends changes of the connection and of a kind', () => {
    const { outbox } = scene();
    outbox.take(10);
    outbox.markConnection();
    outbox.markSource('volumes');
    expect(typesIn(outbox.take(10))).toEqual(['connection', 'source volumes']);
  });
});

describe('pump', () => {
  /** Runs a pump whose reader takes a chunk only when `drain` is called. */
  function pumping(count: number, isSlow: boolean) {
    const { outbox, put } = scene(count);
    const clock = new FakeClock();
    const ending = new AbortController();
    const sent: string[] = [];
    let wake = () => {};
    let drain = () => {};
    const done = pump(
      outbox,
      {
        write(text) {
          sent.push(text);
          return !isSlow;
        },
        drained: (signal) =>
          new Promise((resolve, reject) => {
            drain = resolve;
            signal.addEventListener('abort', () => reject(signal.reason), { once: true });
          }),
      },
      (signal) =>
        new Promise((resolve, reject) => {
          if (!outbox.isEmpty()) return resolve();
          wake = resolve;
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        }),
      clock,
      ending.signal,
    );
    const change = (name: string, phase: string) => {
      put(name, phase);
      outbox.markRow('volumes', name);
      wake();
    };
    return { sent, clock, change, drain: () => drain(), end: () => ending.abort(), done };
  }

  test('sends batches of changes at intervals', async () => {
    const { sent, clock, change, end, done } = pumping(1, false);
    await clock.advance(0);
    expect(sent).toHaveLength(1);
    for (let index = 0; index < 50; index += 1) change(`x${index % 2}`, String(index));
    await clock.advance(BATCH_MS - 1);
    expect(sent).toHaveLength(1);
    await clock.advance(1);
    expect(sent).toHaveLength(2);
    expect(messagesIn(sent[1] ?? '')).toEqual([
      {
        type: 'rows',
        kind: 'volumes',
        rows: [
          { name: 'x0', phase: '48' },
          { name: 'x1', phase: '49' },
        ],
      },
    ]);
    end();
    await done;
  });

  test('holds one chunk for a slow reader, which then gets the latest state only', async () => {
    const { sent, clock, change, drain, end, done } = pumping(3 * CHUNK, true);
    await clock.advance(10 * BATCH_MS);
    expect(sent).toHaveLength(1);
    for (let index = 0; index < 1000; index += 1) change('v0', String(index));
    await clock.advance(10 * BATCH_MS);
    expect(sent).toHaveLength(1);
    for (let chunk = 0; chunk < 4; chunk += 1) {
      drain();
      await clock.advance(BATCH_MS);
    }
    const rows = sent
      .slice(1)
      .flatMap(messagesIn)
      .flatMap((message) =>
        message.type === 'rows' && message.kind === 'volumes' ? message.rows : [],
      );
    expect(rows).toHaveLength(2 * CHUNK + 1);
    expect(rows.filter(({ name }) => name === 'v0')).toEqual([{ name: 'v0', phase: '999' }]);
    end();
    await done;
  });

  test('ends while its reader is slow', async () => {
    const { clock, end, done } = pumping(1, true);
    await clock.advance(0);
    end();
    await expect(done).resolves.toBeUndefined();
  });
});

import { expect, test } from '@jest/globals';
import type { KubeNode } from '../../../src/api/core.ts';
import { createNotReadyTimes } from '../../../src/controllers/attachdetach/not-ready-times.ts';
import type { Change } from '../../../src/kube/store.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function scene() {
  const clock = new FakeClock();
  const start = clock.now();
  const handlers: ((change: Change<KubeNode>) => void)[] = [];
  const since = createNotReadyTimes({ onChange: (handler) => void handlers.push(handler) }, clock);
  /** Returns the node, whose Ready condition changed `at` ms after the start. */
  const node = (status: string, at: number): KubeNode => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1' },
    status: {
      conditions: [
        { type: 'Ready', status, lastTransitionTime: new Date(start + at).toISOString() },
      ],
    },
  });
  const observe = (object: KubeNode) => {
    for (const handler of handlers) handler({ type: 'added', object });
    return object;
  };
  return {
    clock,
    node,
    observe,
    /** Returns since when the node is NotReady, in ms after the start. */
    sinceOf: (object: KubeNode) => {
      const at = since(object);
      return at === undefined ? undefined : at - start;
    },
  };
}

test.each([0, -2 * HOUR, DAY])(
  'a node is NotReady since that was observed, with a time of day that is %i ms ahead',
  async (lead) => {
    const { clock, node, observe, sinceOf } = scene();
    clock.set(lead);
    await clock.advance(1000);
    const down = observe(node('Unknown', 500));
    await clock.advance(60_000);
    expect(sinceOf(down)).toBe(1000);
    clock.set(-lead);
    expect(sinceOf(down)).toBe(1000);
    expect(sinceOf(observe(node('True', 60_500)))).toBeUndefined();
    expect(sinceOf(observe(node('False', 61_000)))).toBe(61_000);
  },
);

test.each([-DAY, -5 * 60_000, HOUR])(
  'a node that was NotReady before the start is so since the start, with a record %i ms from then',
  async (recorded) => {
    const { clock, node, observe, sinceOf } = scene();
    const down = observe(node('Unknown', recorded));
    await clock.advance(1000);
    expect(sinceOf(down)).toBe(0);
  },
);

test('a node without a recorded time, or that is Ready, has none', () => {
  const { node, sinceOf } = scene();
  expect(sinceOf(node('True', 0))).toBeUndefined();
  expect(sinceOf({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })).toBeUndefined();
});

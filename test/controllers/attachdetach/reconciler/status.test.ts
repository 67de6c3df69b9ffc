import { describe, expect, test } from '@jest/globals';
import { reason } from '../../../../src/api/reasons.ts';
import type { Outcome } from '../../../../src/controllers/attachdetach/attacher-detacher.ts';
import {
  ATTACHED,
  DETACHED,
  IN_USE,
  type ReconcilerWorld,
  reconcilerWorld,
  turns,
} from '../../../support/reconciler-world.ts';

const withoutMessage = expect.not.objectContaining({ message: expect.anything() });
const withoutDetail = expect.not.objectContaining({ detail: expect.anything() });

test.each<[string, string, number]>([
  ['in the past', '2026-02-03T04:05:06.000Z', 0],
  ['in the future', '2027-02-03T04:05:06.000Z', 1],
  ['in no valid format', 'x', 1],
])(
  'an unchanged attachment shown with a since %s is written only if that is invalid',
  async (_, since, times) => {
    const { decide, detachInUse, writes } = reconcilerWorld({ since });
    await detachInUse();
    writes.length = 0;
    await decide();
    await decide();
    expect(writes.length).toBe(times);
  },
);

test.each<[string, Outcome, object]>([
  [
    'while it is attached',
    IN_USE,
    {
      attachments: [expect.objectContaining({ node: 'n1', device: 'loop7' })],
      deviceName: 'loop7',
    },
  ],
  ['and removes both after a detach', DETACHED, { attachments: [], deviceName: null }],
])(
  'a single status write shows the device for its node and for the Volume, %s',
  async (_, outcome, status) => {
    const { decide, verify, end, writes } = reconcilerWorld();
    await verify({ ...ATTACHED, device: 'loop7' });
    await decide();
    await end('detach', 'n1', outcome);
    await decide();
    expect(writes).toEqual([status]);
  },
);

test('an idle Volume is requeued after five minutes, without a write', async () => {
  const { reconciler, decide, verify, writes } = reconcilerWorld();
  await verify(DETACHED);
  await decide();
  writes.length = 0;
  expect(await reconciler.reconcile('v1')).toEqual({ requeueAfterMs: 300_000 });
  expect(writes).toEqual([]);
  expect(await reconciler.reconcile('nobody')).toBeUndefined();
});

test('the reason of a failed detach is dropped once a pod needs the volume there again', async () => {
  const { reconciler, decide, detachInUse, pass, movePod, shown } = reconcilerWorld({
    pod: 'nowhere',
  });
  await detachInUse();
  await decide();
  expect(shown()).toEqual([expect.objectContaining({ node: 'n1', message: 'mounted' })]);
  movePod('n1');
  pass(100);
  await decide();
  expect(shown()).toEqual([withoutMessage]);
  // The next detach has no delay.
  expect([...reconciler.known()].map(({ failures }) => [...failures.keys()])).toEqual([[]]);
});

test('a detach of a device in use is retried without a write each time', async () => {
  const { decide, verify, end, pass, writes } = reconcilerWorld();
  await verify(ATTACHED);
  const tryOnce = async () => {
    await decide();
    pass(3000);
    await decide();
    await end('detach', 'n1', IN_USE);
    await decide();
    pass(10_000);
  };
  await tryOnce();
  expect(writes.map(({ attachments }) => attachments[0]?.state)).toEqual(['Detaching', 'Attached']);
  writes.length = 0;
  await tryOnce();
  await tryOnce();
  expect(writes).toEqual([]);
});

describe('an operation that takes long', () => {
  const detaching = async (prepare: (world: ReconcilerWorld) => void = () => {}) => {
    const world = reconcilerWorld();
    await world.verify(ATTACHED);
    prepare(world);
    await world.decide();
    return world;
  };

  test('shows the current step of its job after ten seconds', async () => {
    const { decide, pass, ran, shown, woken, end } = await detaching();
    pass(9999);
    ran().tell('write back');
    await decide();
    expect(shown()).toEqual([withoutMessage]);
    pass(1);
    woken.length = 0;
    ran().tell('write back');
    ran().tell('write back');
    expect(woken).toEqual([undefined]);
    await decide();
    const message = 'its job is running: write back';
    const detail = reason('OperationUnderWay', { step: 'write back' });
    expect(shown()).toEqual([expect.objectContaining({ state: 'Detaching', message, detail })]);
    await end('detach', 'n1', DETACHED);
    await decide();
    expect(shown()).toEqual([]);
  });

  test('shows that it is queued, until it starts', async () => {
    const { decide, pass, cap, shown, operations } = await detaching((world) => {
      world.cap.inAll = 0;
    });
    pass(1000);
    expect(await decide()).toEqual({ requeueAfterMs: 9000 });
    pass(9000);
    await decide();
    const message = 'waiting for other operations to end';
    const detail = reason('OperationQueued');
    expect(shown()).toEqual([expect.objectContaining({ state: 'Detaching', message, detail })]);
    cap.inAll = 9;
    operations.start('v9', 'detach', 'n9', async () => true);
    await turns();
    await decide();
    expect(shown()).toEqual([withoutMessage]);
    expect(shown()).toEqual([withoutDetail]);
  });
});

describe('a verification', () => {
  const begun = async (places: number) => {
    const world = reconcilerWorld();
    world.cap.inAll = places;
    const first = await world.decide();
    const states = () => world.writes.map(({ attachments }) => attachments[0]?.state);
    return { ...world, first, states };
  };

  test('is not shown while it is queued, unless that takes a minute', async () => {
    const { first, decide, pass, states } = await begun(0);
    expect(first).toEqual({ requeueAfterMs: 60_000 });
    pass(59_999);
    expect(await decide()).toEqual({ requeueAfterMs: 1 });
    expect(states()).toEqual([]);
    pass(1);
    await decide();
    expect(states()).toEqual(['Uncertain']);
  });

  test('is shown a second after it leaves the queue', async () => {
    const { decide, cap, operations, pass, states, woken } = await begun(0);
    pass(30_000);
    cap.inAll = 9;
    operations.start('v9', 'verify', 'n9', async () => true);
    await turns();
    expect(woken).toEqual([1000]);
    pass(999);
    expect(await decide()).toEqual({ requeueAfterMs: 1 });
    expect(states()).toEqual([]);
    pass(1);
    await decide();
    expect(states()).toEqual(['Uncertain']);
  });

  test('is shown after a second if it begins at once', async () => {
    const { first, decide, pass, states, woken } = await begun(9);
    expect(first).toEqual({ requeueAfterMs: 1000 });
    expect(woken).toEqual([]);
    pass(1000);
    await decide();
    expect(states()).toEqual(['Uncertain']);
  });
});

describe('a node that does not answer, with varying messages', () => {
  /** Ends each operation for an hour, after a first verification of n1. */
  async function anHour(first: Outcome) {
    const { decide, operations, verify, end, pass, running, writes, events } = reconcilerWorld({
      pod: 'n1',
    });
    await verify(first);
    let tries = 0;
    for (let second = 0; second < 3600; second++) {
      await decide();
      const { kind = 'verify' } = running() ?? {};
      if (operations.of('u1') !== undefined) {
        const message = `n1: ${tries++ % 2 === 0 ? 'Connection timed out' : 'No route to host'}`;
        await end(kind, 'n1', { is: 'unknown', message, nothingDone: true, silent: true });
      }
      pass(1000);
    }
    expect(tries).toBeGreaterThan(30);
    return { writes: writes.filter((each) => JSON.stringify(each).includes('n1: ')), events };
  }

  test('causes at most one status write in ten minutes', async () => {
    const { writes } = await anHour({ is: 'unknown', message: 'n1: away', silent: true });
    expect(writes.length).toBeGreaterThan(1);
    expect(writes.length).toBeLessThanOrEqual(6);
  });

  test('causes at most one pod event in ten minutes', async () => {
    const { events } = await anHour(DETACHED);
    expect(new Set(events)).toEqual(new Set(['p1 FailedAttachVolume']));
    expect(events.length).toBeLessThanOrEqual(6);
  });
});

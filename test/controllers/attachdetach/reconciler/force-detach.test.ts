import { describe, expect, test } from '@jest/globals';
import { reason } from '../../../../src/api/reasons.ts';
import { NOW } from '../../../support/attachment-view.ts';
import {
  ATTACHED,
  DETACHED,
  node,
  off,
  type ReconcilerWorld,
  reconcilerWorld,
  turns,
} from '../../../support/reconciler-world.ts';

const FORCE_DETACHED = {
  message: 'the attachment to node n1 was removed meanwhile',
  detail: reason('LetGoMeanwhile', { node: 'n1' }),
};

test('the result of an operation that ends while a force-detach is confirmed is kept', async () => {
  const { decide, nodes, whileReading, end, entries } = reconcilerWorld();
  await decide();
  await end('verify', 'n1', ATTACHED);
  await decide();
  nodes.recordWrite(off('n1'));
  whileReading(() => end('verify', 'n2', ATTACHED));
  await decide();
  expect(entries()?.[0]).toMatch(/^n2 /);
});

test('a node is force-detached once, though an operation ends there after that', async () => {
  const { decide, nodes, forced, verify, end, precheck, entries } = reconcilerWorld();
  await verify(ATTACHED);
  await decide();
  nodes.recordWrite(off('n1'));
  await decide();
  expect(forced).toEqual(['out-of-service']);
  await precheck();
  expect(entries()).toEqual([]);
  await end('detach', 'n1', { is: 'unknown', message: 'no answer' });
  await decide();
  expect(forced).toEqual(['out-of-service']);
  expect(entries()).toEqual([]);
  nodes.recordWrite(node('n1', true));
  await decide();
  await end('verify', 'n1', ATTACHED);
  expect(entries()).toEqual(['n1 Attached']);
});

describe('an attachment that is removed from the status', () => {
  const removed = async () => {
    const world = reconcilerWorld();
    await world.detachInUse();
    await world.decide();
    world.changeVolume({}, { attachments: [] });
    return world;
  };

  test('is force-detached and counted if the Node is gone', async () => {
    const { decide, nodes, forced, entries } = await removed();
    nodes.drop('n1');
    await decide();
    expect(entries()).toEqual([]);
    expect(forced).toEqual(['ordered']);
  });

  test('is force-detached once, even if a verification finds it again', async () => {
    const { decide, nodes, forced, entries, end, changeVolume } = await removed();
    changeVolume({ attachableNodes: undefined });
    nodes.recordWrite(node('n1', false));
    await decide();
    expect(forced).toEqual(['ordered']);
    await end('verify', 'n1', ATTACHED);
    await decide();
    expect(entries()).toEqual(['n1 Attached']);
    expect(forced).toEqual(['ordered']);
  });

  test('is kept if the Node is missing only from the cache', async () => {
    const { decide, nodes, forced, entries, whileReading } = await removed();
    nodes.drop('n1');
    whileReading(async () => nodes.recordWrite(node('n1', true)));
    await decide();
    expect(entries()?.[0]).toMatch(/^n1 /);
    expect(forced).toEqual([]);
  });
});

describe('an operation on a node that is force-detached', () => {
  /** Starts a detach from n1. */
  const detaching = async (prepare: (world: ReconcilerWorld) => void = () => {}) => {
    const world = reconcilerWorld({ pod: 'nowhere' });
    await world.verify(ATTACHED);
    prepare(world);
    await world.decide();
    return world;
  };

  test('is canceled, and the volume is attached where it is needed', async () => {
    const { nodes, decide, movePod, ran, running, forced, entries, precheck } = await detaching();
    expect(running()).toMatchObject({ kind: 'detach', node: 'n1' });
    const detach = ran();
    nodes.recordWrite(off('n1'));
    movePod('n2');
    await decide();
    expect(forced).toEqual(['out-of-service']);
    expect(detach.signal.aborted).toBe(true);
    expect(running()).toMatchObject({ kind: 'attach', node: 'n2' });
    expect(await detach.precheck()).toEqual(FORCE_DETACHED);
    expect(await precheck()).toBeUndefined();
    // Its result does not affect the other operation. The node is verified when it returns.
    detach.end(ATTACHED);
    await decide();
    expect(entries()).toEqual(['n2 Attaching']);
    ran().end(ATTACHED);
    await decide();
    nodes.recordWrite(node('n1', true));
    await decide();
    expect(running()).toMatchObject({ kind: 'verify', node: 'n1' });
  });

  test('is canceled while it waits in the queue', async () => {
    const { nodes, decide, movePod, running, cap } = await detaching(({ cap: places }) => {
      places.inAll = 0;
    });
    expect(running()).toMatchObject({ kind: 'verify' });
    nodes.recordWrite(off('n1'));
    movePod('n2');
    cap.inAll = 9;
    await decide();
    expect(running()).toMatchObject({ kind: 'attach', node: 'n2' });
  });

  test('is canceled where an operator removes the attachment from the status', async () => {
    const { nodes, decide, movePod, ran, running, forced, pass, changeVolume } = await detaching();
    const detach = ran();
    pass(2000);
    await decide();
    nodes.drop('n1');
    changeVolume({}, { attachments: [] });
    movePod('n2');
    await decide();
    expect(forced).toEqual(['ordered']);
    expect(detach.signal.aborted).toBe(true);
    expect(running()).toMatchObject({ kind: 'attach', node: 'n2' });
  });

  test('triggers another verification if it ends after the node returned', async () => {
    const { nodes, decide, ran, ranBy, running, end } = await detaching();
    const detach = ran();
    nodes.recordWrite(off('n1'));
    await decide();
    nodes.recordWrite(node('n1', true));
    await decide();
    await end('verify', 'n1', DETACHED);
    await decide();
    ranBy.length = 0;
    detach.end(DETACHED);
    await turns();
    await decide();
    expect(ranBy).toHaveLength(1);
    expect(running()).toMatchObject({ kind: 'verify', node: 'n1' });
  });

  test('does not change the state found on the node afterwards', async () => {
    const { nodes, decide, movePod, ran, end, reconciler, pass } = await detaching();
    const detach = ran();
    nodes.recordWrite(off('n1'));
    await decide();
    nodes.recordWrite(node('n1', true));
    movePod('n1');
    await decide();
    await end('attach', 'n1', ATTACHED);
    expect(await detach.precheck()).toEqual(FORCE_DETACHED);
    pass(20_000);
    detach.tell('sync');
    const entry = { node: 'n1', safeToDetach: false, message: undefined };
    expect([...reconciler.known()][0]?.entries).toMatchObject([entry]);
  });

  test('submits no job if the node is force-detached during its precheck', async () => {
    const { nodes, decide, ran, whileReading } = await detaching();
    const detach = ran();
    whileReading(async () => {
      nodes.recordWrite(off('n1'));
      await decide();
    });
    expect(await detach.precheck()).toEqual(FORCE_DETACHED);
  });
});

describe('a node that is NotReady', () => {
  const MINUTE = 60_000;
  // By the clock of kube-controller-manager, which is ahead.
  const lastTransitionTime = new Date(NOW + 30 * MINUTE).toISOString();
  const notReady = {
    ...node('n1', false),
    status: {
      conditions: [{ type: 'Ready', status: 'Unknown', lastTransitionTime }],
    },
  };

  /** Ends a running operation without an answer, as on a node that is down. */
  const reconcile = async (world: ReconcilerWorld, operation: { count: number }) => {
    await world.decide();
    if (world.ranBy.length === operation.count) return;
    operation.count = world.ranBy.length;
    world.ran().end({ is: 'unknown', message: 'no answer' });
    await turns();
    await world.decide();
  };

  test.each([
    ['set back by 2 hours before that', -120 * MINUTE, 0],
    ['set back by 2 hours amid the wait', 0, -120 * MINUTE],
    ['set forward by a day before that', 1440 * MINUTE, 0],
    ['set forward by a day amid the wait', 0, 1440 * MINUTE],
  ])('is force-detached after 6 minutes, with a clock that is %s', async (_, before, amid) => {
    const world = reconcilerWorld();
    const operation = { count: 0 };
    world.changeVolume({ attachableNodes: ['n1'] });
    world.setClock(before);
    await world.decide();
    await world.end('verify', 'n1', ATTACHED);
    operation.count = world.ranBy.length;
    world.nodes.recordWrite(notReady);
    await reconcile(world, operation);
    world.pass(3 * MINUTE);
    world.setClock(amid);
    await reconcile(world, operation);
    world.pass(2.9 * MINUTE);
    await reconcile(world, operation);
    expect(world.forced).toEqual([]);
    world.pass(0.2 * MINUTE);
    await reconcile(world, operation);
    world.pass(1);
    await reconcile(world, operation);
    expect(world.forced).toEqual(['timeout']);
  });
});

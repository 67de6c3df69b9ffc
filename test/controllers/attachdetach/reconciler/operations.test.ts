import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../../../src/api/volume.ts';
import type { Outcome } from '../../../../src/controllers/attachdetach/attacher-detacher.ts';
import { ATTACHED, DETACHED, reconcilerWorld, turns } from '../../../support/reconciler-world.ts';

test('an event reports the attach to a pod whose condition cannot be written', async () => {
  const { reconciler, verify, events } = reconcilerWorld({ pod: 'n1' });
  await verify(ATTACHED);
  await expect(reconciler.reconcile('v1')).rejects.toThrow('no pod may be written');
  expect(events).toEqual(['p1 SuccessfulAttachVolume']);
});

test('a failed write to a pod does not delay the next operation', async () => {
  const { reconciler, detachInUse, woken } = reconcilerWorld({ pod: 'nowhere' });
  await detachInUse();
  woken.length = 0;
  await expect(reconciler.reconcile('v1')).rejects.toThrow('no pod may be written');
  // The delay after the first failed detach.
  expect(woken).toEqual([500]);
});

describe('an attach to a node that does not answer', () => {
  const nothing: Outcome = { is: 'unknown', message: 'n1 refuses the key', nothingDone: true };

  test.each<[string, Outcome, string]>([
    ['frees the volume for another node if nothing was done', nothing, 'n2 Attaching'],
    [
      'keeps the volume if a job may have been submitted',
      { ...nothing, nothingDone: false },
      'n1 Uncertain',
    ],
  ])('%s', async (_, outcome, entry) => {
    const { decide, verify, end, pass, entries, movePod } = reconcilerWorld({ pod: 'n1' });
    await verify(DETACHED);
    await decide();
    expect(entries()).toEqual(['n1 Attaching']);
    await end('attach', 'n1', outcome);
    movePod('n2');
    pass(1);
    await decide();
    expect(entries()).toEqual([entry]);
  });

  test('keeps the volume on a node that an earlier process recorded', async () => {
    const { decide, verify, entries } = reconcilerWorld({ pod: 'n2' });
    await verify(nothing);
    await decide();
    expect(entries()).toEqual(['n1 Uncertain']);
  });
});

describe('the log', () => {
  const said = ({ lines }: ReturnType<typeof reconcilerWorld>) =>
    lines
      .filter(({ level }) => level === 'warn')
      .map(({ fields, message }) => ({ ...fields, message }));

  test.each<[string, Outcome, object[]]>([
    [
      'with an error',
      { is: 'failed', message: 'losetup: I/O error' },
      [{ volume: 'v1', node: 'n1', reason: 'losetup: I/O error', message: 'attach failed' }],
    ],
    [
      'with an unknown outcome',
      { is: 'unknown', message: 'n1 is silent' },
      [{ volume: 'v1', node: 'n1', reason: 'n1 is silent', message: 'attach failed' }],
    ],
    [
      'with the link missing',
      { ...ATTACHED, safeToMount: false, message: 'the link is missing' },
      [{ volume: 'v1', node: 'n1', reason: 'the link is missing', message: 'attach failed' }],
    ],
    ['without an error', ATTACHED, []],
  ])('warns unless the attach succeeded: one %s', async (_, outcome, expected) => {
    const world = reconcilerWorld({ pod: 'n1' });
    await world.verify(DETACHED);
    await world.decide();
    await world.end('attach', 'n1', outcome);
    expect(said(world)).toEqual(expected);
  });

  test.each<[string, Outcome, object[]]>([
    [
      'with an error',
      { ...ATTACHED, message: 'losetup: I/O error' },
      [{ volume: 'v1', node: 'n1', reason: 'losetup: I/O error', message: 'detach failed' }],
    ],
    ['with the volume still mounted', { is: 'in-use', message: 'mounted' }, []],
    ['without an error', DETACHED, []],
  ])('warns only if the detach failed: one %s', async (_, outcome, expected) => {
    const world = reconcilerWorld();
    await world.verify(ATTACHED);
    await world.decide();
    await world.end('detach', 'n1', outcome);
    expect(said(world)).toEqual(expected);
  });
});

describe('isMoving', () => {
  /**
   * Starts a detach after both nodes were verified.
   * @param places limit of concurrent operations from then on
   */
  async function detaching(places = 9) {
    const world = reconcilerWorld();
    const { reconciler, volumes, decide, end, running, cap } = world;
    const isMoving = (on: string) => reconciler.isMoving(volumes.get('v1') as Volume, on);
    expect(isMoving('n1')).toBe(false);
    await decide();
    for (const [on, outcome] of [
      ['n1', ATTACHED],
      ['n2', DETACHED],
    ] as const) {
      expect(running()).toMatchObject({ kind: 'verify', node: on });
      expect(isMoving('n1')).toBe(false);
      await end('verify', on, outcome);
      if (on === 'n2') cap.inAll = places;
      await decide();
    }
    return { ...world, isMoving };
  }

  test('is true from the start of a detach until the status shows its end', async () => {
    const { decide, volumes, end, isMoving, running } = await detaching();
    expect(running()).toMatchObject({ kind: 'detach', node: 'n1' });
    expect([isMoving('n1'), isMoving('n2')]).toEqual([true, false]);
    await end('detach', 'n1', DETACHED);
    expect([isMoving('n1'), isMoving('n2')]).toEqual([true, false]);
    await decide();
    expect(volumes.get('v1')?.status?.attachments).toEqual([]);
    expect(isMoving('n1')).toBe(false);
  });

  test('is false while the detach is queued', async () => {
    const { isMoving, entries } = await detaching(0);
    expect(entries()).toEqual(['n1 Detaching']);
    expect(isMoving('n1')).toBe(false);
  });

  test('is false once the detach has run for a minute', async () => {
    const { pass, isMoving } = await detaching();
    pass(59_999);
    expect(isMoving('n1')).toBe(true);
    pass(1);
    expect(isMoving('n1')).toBe(false);
  });
});

describe('an operation that cannot start', () => {
  /** The verification of n2 runs, and a detach from n1 follows. */
  const verifying = async () => {
    const world = reconcilerWorld();
    await world.decide();
    await world.end('verify', 'n1', ATTACHED);
    await world.decide();
    expect(world.running()).toMatchObject({ kind: 'verify', node: 'n2' });
    return world;
  };

  // The ends of operations that the reconciler and the table of operations know may differ for some
  // turns.
  test.each([0, 1, 2, 3, 4, 5, 6])(
    'starts next if the previous operation ended %i turns ago',
    async (count) => {
      const { decide, ran, entries, operations } = await verifying();
      ran().end(DETACHED);
      await turns(count);
      await decide();
      expect(entries()).toEqual([
        operations.of('u1')?.kind === 'detach' ? 'n1 Detaching' : 'n1 Attached',
      ]);
      await decide();
      expect(operations.of('u1')?.kind).toBe('detach');
    },
  );

  test('leaves the known state unchanged after all operations were stopped', async () => {
    const { decide, end, entries, operations } = await verifying();
    await end('verify', 'n2', DETACHED);
    await operations.stop(0, async () => {});
    expect(await decide()).toEqual({ requeueAfterMs: 1000 });
    expect(entries()).toEqual(['n1 Attached']);
  });
});

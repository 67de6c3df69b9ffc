import { describe, expect, test } from '@jest/globals';
import type { Lease } from '../../src/api/core.ts';
import { decide, heldBy, type LeaseDecision, released } from '../../src/kube/lease.ts';

const lease = (spec: Lease['spec']): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'stowage', resourceVersion: '7' },
  ...(spec && { spec }),
});
const held = (holderIdentity: string, leaseDurationSeconds = 15) =>
  lease({ holderIdentity, leaseDurationSeconds });

const SEEN = 1000;
const lost = (why: string): LeaseDecision => ({
  do: 'lost',
  why: expect.stringContaining(why) as never,
});

describe('a follower', () => {
  test.each<[string, Lease | undefined, number, LeaseDecision]>([
    ['finds none', undefined, SEEN, { do: 'acquire' }],
    ['finds one that was never held', lease(undefined), SEEN, { do: 'acquire' }],
    ['finds one that was released', held(''), SEEN, { do: 'acquire' }],
    [
      'finds one that was released, as null',
      lease({ holderIdentity: null }),
      SEEN,
      { do: 'acquire' },
    ],
    ['finds its own, whose answer was lost', held('me'), SEEN, { do: 'acquire' }],
    ['just saw another renew', held('other'), SEEN, { do: 'wait', ms: 15_000 }],
    ['saw another renew a while ago', held('other'), SEEN + 14_999, { do: 'wait', ms: 1 }],
    ['saw no renewal for the duration', held('other'), SEEN + 15_000, { do: 'acquire' }],
    [
      'goes by the duration of the record',
      held('other', 60),
      SEEN + 15_000,
      { do: 'wait', ms: 45_000 },
    ],
    [
      'of a record without one goes by its own',
      lease({ holderIdentity: 'other' }),
      SEEN,
      { do: 'wait', ms: 10_000 },
    ],
    ['of a record with nonsense, too', held('other', -5), SEEN, { do: 'wait', ms: 10_000 }],
    [
      'does not look at the clock of another machine',
      lease({
        holderIdentity: 'other',
        leaseDurationSeconds: 15,
        renewTime: '1999-01-01T00:00:00.000000Z',
      }),
      SEEN,
      { do: 'wait', ms: 15_000 },
    ],
  ])('acquires the Lease or waits: %s', (_, found, now, decision) => {
    const me = { identity: 'me', leadsUntil: undefined, othersUntil: 0, leaseDurationMs: 10_000 };
    expect(decide(found, SEEN, me, now)).toEqual(decision);
  });
});

test.each<[string, Lease | undefined, number, LeaseDecision]>([
  ['that was deleted is waited out', undefined, SEEN, { do: 'wait', ms: 8000 }],
  ['that was deleted and waited out is taken', undefined, 9000, { do: 'acquire' }],
  ['that was released is taken at once', held(''), SEEN, { do: 'acquire' }],
])('a Lease of another holder %s', (_, found, now, decision) => {
  const me = { identity: 'me', leadsUntil: undefined, othersUntil: 9000, leaseDurationMs: 10_000 };
  expect(decide(found, SEEN, me, now)).toEqual(decision);
});

describe('a leader', () => {
  test.each<[string, Lease | undefined, number, LeaseDecision]>([
    ['renews', held('me'), 4999, { do: 'renew' }],
    ['has lost it when its deadline has come', held('me'), 5000, lost('not renewed in time')],
    ['has lost it when it slept through it', held('me'), 500_000, lost('not renewed in time')],
    ['has lost it to another', held('other'), 4000, lost('other holds it')],
    [
      'has lost it to another even if that is long ago',
      held('other', 1),
      4999,
      lost('other holds it'),
    ],
    ['takes again what was deleted', undefined, 4000, { do: 'acquire' }],
    ['takes again what was cleared', held(''), 4000, { do: 'acquire' }],
    [
      'takes nothing again when its deadline has come',
      undefined,
      5000,
      lost('not renewed in time'),
    ],
  ])('handles its Lease: %s', (_, found, now, decision) => {
    const me = { identity: 'me', leadsUntil: 5000, othersUntil: 0, leaseDurationMs: 15_000 };
    expect(decide(found, SEEN, me, now)).toEqual(decision);
  });
});

describe('the spec of a Lease', () => {
  const now = Date.parse('2030-01-01T00:00:00.123Z');
  const time = '2030-01-01T00:00:00.123000Z';

  test('names the holder and counts no transitions if the Lease is new', () => {
    expect(heldBy('me', undefined, 15_000, now)).toEqual({
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      acquireTime: time,
      renewTime: time,
      leaseTransitions: 0,
    });
  });

  test('counts a transition on takeover, and rounds the duration up to seconds', () => {
    const old = lease({ holderIdentity: 'other', acquireTime: 'then', leaseTransitions: 3 });
    expect(heldBy('me', old, 1500, now)).toMatchObject({
      leaseDurationSeconds: 2,
      acquireTime: time,
      leaseTransitions: 4,
    });
  });

  test('keeps acquireTime and the transitions on renewal', () => {
    const old = lease({ holderIdentity: 'me', acquireTime: 'then', leaseTransitions: 3 });
    expect(heldBy('me', old, 15_000, now)).toMatchObject({
      acquireTime: 'then',
      renewTime: time,
      leaseTransitions: 3,
    });
  });

  test('has no holder and a duration of one second on release', () => {
    const old = lease({ holderIdentity: 'me', leaseDurationSeconds: 15, leaseTransitions: 3 });
    expect(released(old, now)).toEqual({
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: time,
      renewTime: time,
      leaseTransitions: 3,
    });
  });
});

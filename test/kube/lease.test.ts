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
    ['no Lease', undefined, SEEN, { do: 'acquire' }],
    ['a Lease that was never held', lease(undefined), SEEN, { do: 'acquire' }],
    ['a released Lease', held(''), SEEN, { do: 'acquire' }],
    [
      'a Lease that was released with null',
      lease({ holderIdentity: null }),
      SEEN,
      { do: 'acquire' },
    ],
    ['its own Lease, after a lost response', held('me'), SEEN, { do: 'acquire' }],
    ['a renewal just now', held('other'), SEEN, { do: 'wait', ms: 15_000 }],
    ['a renewal a while ago', held('other'), SEEN + 14_999, { do: 'wait', ms: 1 }],
    ['no renewal for the lease duration', held('other'), SEEN + 15_000, { do: 'acquire' }],
    [
      'the duration in the Lease counts',
      held('other', 60),
      SEEN + 15_000,
      { do: 'wait', ms: 45_000 },
    ],
    [
      'its own duration, if the Lease has none',
      lease({ holderIdentity: 'other' }),
      SEEN,
      { do: 'wait', ms: 10_000 },
    ],
    [
      'its own duration, if that in the Lease is invalid',
      held('other', -5),
      SEEN,
      { do: 'wait', ms: 10_000 },
    ],
    [
      'the clock of another machine is ignored',
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
  ['is waited out if it was deleted', undefined, SEEN, { do: 'wait', ms: 8000 }],
  ['is acquired if it was deleted and waited out', undefined, 9000, { do: 'acquire' }],
  ['is acquired at once if it was released', held(''), SEEN, { do: 'acquire' }],
])('a Lease of another holder %s', (_, found, now, decision) => {
  const me = { identity: 'me', leadsUntil: undefined, othersUntil: 9000, leaseDurationMs: 10_000 };
  expect(decide(found, SEEN, me, now)).toEqual(decision);
});

describe('a leader', () => {
  test.each<[string, Lease | undefined, number, LeaseDecision]>([
    ['renews', held('me'), 4999, { do: 'renew' }],
    ['lost at its deadline', held('me'), 5000, lost('not renewed in time')],
    ['lost after a sleep past its deadline', held('me'), 500_000, lost('not renewed in time')],
    ['lost to another holder', held('other'), 4000, lost('other holds it')],
    ['lost to another holder, even an expired one', held('other', 1), 4999, lost('other holds it')],
    ['acquires a deleted Lease again', undefined, 4000, { do: 'acquire' }],
    ['acquires a released Lease again', held(''), 4000, { do: 'acquire' }],
    ['acquires no deleted Lease after its deadline', undefined, 5000, lost('not renewed in time')],
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

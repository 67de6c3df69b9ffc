import type { Lease } from '../api/core.ts';

export interface Candidate {
  identity: string;
  /** Of a leader: when its right to act ends unless it renews. On the same clock as `now`. */
  leadsUntil: number | undefined;
  /** Until when whoever was last seen to hold the Lease may act. On the same clock as `now`. */
  othersUntil: number;
  /** For how long to take a record as valid that does not say, in ms. */
  leaseDurationMs: number;
}

export type LeaseDecision =
  | { do: 'acquire' }
  | { do: 'renew' }
  /** Somebody else's; it may be taken in `ms`, if it stays as it is. */
  | { do: 'wait'; ms: number }
  | { do: 'lost'; why: string };

/**
 * What to do about a Lease. `observedAt` is when this process first saw the record as it is: times in the record are of
 * another machine's clock, and are not looked at. `observedAt` and `now` are in ms of a clock that never steps.
 */
export function decide(
  lease: Lease | undefined,
  observedAt: number,
  me: Candidate,
  now: number,
): LeaseDecision {
  const holder = holderOf(lease);
  if (me.leadsUntil !== undefined) {
    if (now >= me.leadsUntil) return { do: 'lost', why: 'it was not renewed in time' };
    if (holder === me.identity) return { do: 'renew' };
    return holder === undefined ? { do: 'acquire' } : { do: 'lost', why: `${holder} holds it` };
  }
  // Who holds a Lease that was deleted is not told by it, and makes it anew. One that is empty was released.
  const left = (lease === undefined ? me.othersUntil : heldUntil(lease, observedAt, me)) - now;
  return left > 0 ? { do: 'wait', ms: left } : { do: 'acquire' };
}

/** Until when another may act who holds this record, which was first seen at `observedAt`; 0 where none does. */
export function heldUntil(
  lease: Lease,
  observedAt: number,
  me: Pick<Candidate, 'identity' | 'leaseDurationMs'>,
): number {
  const holder = holderOf(lease);
  // Ours without our knowing: the answer to the write that took it was lost.
  if (holder === undefined || holder === me.identity) return 0;
  const seconds = lease.spec?.leaseDurationSeconds ?? 0;
  return observedAt + (seconds > 0 ? seconds * 1000 : me.leaseDurationMs);
}

const holderOf = (lease: Lease | undefined): string | undefined =>
  lease?.spec?.holderIdentity || undefined;

/** The spec that a candidate writes to take a Lease or to keep it. `now` is in ms since the epoch. */
export function heldBy(
  identity: string,
  lease: Lease | undefined,
  leaseDurationMs: number,
  now: number,
): NonNullable<Lease['spec']> {
  const time = microTime(now);
  const old = lease?.spec;
  const mine = old?.holderIdentity === identity;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
    acquireTime: (mine ? old.acquireTime : undefined) ?? time,
    renewTime: time,
    leaseTransitions: (old?.leaseTransitions ?? 0) + (old === undefined || mine ? 0 : 1),
  };
}

/** The spec that gives a Lease away, as client-go writes it. */
export function released(lease: Lease, now: number): NonNullable<Lease['spec']> {
  const time = microTime(now);
  return {
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: lease.spec?.leaseTransitions ?? 0,
  };
}

/** metav1.MicroTime is read with exactly six digits. */
const microTime = (now: number): string => new Date(now).toISOString().replace('Z', '000Z');

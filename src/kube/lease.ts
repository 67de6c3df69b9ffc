import type { Lease } from '../api/core.ts';

export interface Candidate {
  identity: string;
  /** Of a leader: when its right to act ends unless it renews. On the same clock as `now`. */
  leadsUntil: number | undefined;
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
  const holder = lease?.spec?.holderIdentity || undefined;
  if (me.leadsUntil !== undefined) {
    if (now >= me.leadsUntil) return { do: 'lost', why: 'it was not renewed in time' };
    if (holder === me.identity) return { do: 'renew' };
    return holder === undefined ? { do: 'acquire' } : { do: 'lost', why: `${holder} holds it` };
  }
  // Ours without our knowing: the answer to the write that took it was lost.
  if (holder === undefined || holder === me.identity) return { do: 'acquire' };
  const seconds = lease?.spec?.leaseDurationSeconds ?? 0;
  const left = observedAt + (seconds > 0 ? seconds * 1000 : me.leaseDurationMs) - now;
  return left > 0 ? { do: 'wait', ms: left } : { do: 'acquire' };
}

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

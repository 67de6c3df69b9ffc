import type { Lease } from '../api/core.ts';

export interface Candidate {
  identity: string;
  /** End of a leader's right to act without a renewal, on the clock of `now`. Unset for others. */
  leadsUntil: number | undefined;
  /** Time until which the last observed holder of the Lease may act, on the clock of `now`. */
  othersUntil: number;
  /** Validity (ms) of a record that states none. */
  leaseDurationMs: number;
}

export type LeaseDecision =
  | { do: 'acquire' }
  | { do: 'renew' }
  /** Another candidate holds the Lease. It may be taken in `ms` if it stays unchanged. */
  | { do: 'wait'; ms: number }
  | { do: 'lost'; why: string };

/**
 * Returns the next step for a Lease. `observedAt` is the time when this process first saw the
 * current record. Times within the record are ignored, as they come from another machine's clock.
 * `observedAt` and `now` are in ms of a clock that never steps.
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
  // A deleted Lease does not name its holder, which creates it again. An empty one was released.
  const left = (lease === undefined ? me.othersUntil : heldUntil(lease, observedAt, me)) - now;
  return left > 0 ? { do: 'wait', ms: left } : { do: 'acquire' };
}

/**
 * Returns the time until which another holder of this record, first seen at `observedAt`, may act;
 * 0 without one.
 */
export function heldUntil(
  lease: Lease,
  observedAt: number,
  me: Pick<Candidate, 'identity' | 'leaseDurationMs'>,
): number {
  const holder = holderOf(lease);
  // Held by this process unknowingly: the response to the write that took it was lost.
  if (holder === undefined || holder === me.identity) return 0;
  const seconds = lease.spec?.leaseDurationSeconds ?? 0;
  return observedAt + (seconds > 0 ? seconds * 1000 : me.leaseDurationMs);
}

const holderOf = (lease: Lease | undefined): string | undefined =>
  lease?.spec?.holderIdentity || undefined;

/** Returns the spec that takes or renews a Lease. `now` is in ms since the epoch. */
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

/** Returns the spec that releases a Lease, as client-go writes it. */
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

/** Formats a metav1.MicroTime, which must have exactly six digits. */
const microTime = (now: number): string => new Date(now).toISOString().replace('Z', '000Z');

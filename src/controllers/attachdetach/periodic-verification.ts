import type { Managed } from './types.ts';
import type { VolumeState } from './volume-state.ts';

/** Verification of nodes at a fixed interval. */
export interface PeriodicVerification {
  /**
   * Marks the nodes of a Volume as unverified once per interval. The first interval begins with the
   * first call.
   * @returns time of the next call, by the clock of `now`; Infinity: never
   */
  markDue(known: VolumeState, managed: Managed | undefined, now: number): number;
  forget(uid: string): void;
}

/** @param intervalMs undefined: never verify periodically */
export function createPeriodicVerification(intervalMs: number | undefined): PeriodicVerification {
  const marked = new Map<string, number>();
  return {
    markDue(known, managed, now) {
      if (intervalMs === undefined || managed === undefined) return Number.POSITIVE_INFINITY;
      const last = marked.get(known.uid) ?? now;
      const due = now >= last + intervalMs;
      if (due) for (const node of managed.nodes) known.unverifiedNodes.add(node);
      const counted = due ? now : last;
      marked.set(known.uid, counted);
      return counted + intervalMs;
    },
    forget: (uid) => {
      marked.delete(uid);
    },
  };
}

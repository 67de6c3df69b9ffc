import type { Managed } from './types.ts';
import type { VolumeState } from './volume-state.ts';

/** Looks at nodes for no other reason than that it was long ago. */
export interface Polls {
  /**
   * Doubts what is known of a Volume's nodes once in each interval, which begins when this is first asked of it.
   * @returns when to ask again, ms since the epoch; Infinity: never
   */
  poll(known: VolumeState, managed: Managed | undefined, now: number): number;
  forget(uid: string): void;
}

/** @param intervalMs undefined: never */
export function createPeriodicVerification(intervalMs: number | undefined): Polls {
  const polled = new Map<string, number>();
  return {
    poll(known, managed, now) {
      if (intervalMs === undefined || managed === undefined) return Number.POSITIVE_INFINITY;
      const last = polled.get(known.uid) ?? now;
      const due = now >= last + intervalMs;
      if (due) for (const node of managed.nodes) known.unverifiedNodes.add(node);
      const counted = due ? now : last;
      polled.set(known.uid, counted);
      return counted + intervalMs;
    },
    forget: (uid) => {
      polled.delete(uid);
    },
  };
}

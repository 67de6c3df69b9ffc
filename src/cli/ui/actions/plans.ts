import { createHash, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, longestSince, type Moment, momentOf } from '../../../workqueue/clock.ts';

/** Time (ms) for which a plan can be run. */
export const PLAN_MS = 300_000;
/** Plans of all tabs. Beyond this number, the oldest one ends. */
const MOST_PLANS = 64;
const BYTES = 32;

/** Command that a user has seen, and what it asks. */
export interface Plan {
  argv: readonly string[];
  /** Text that the user must type; '' if none. */
  confirm: string;
  /** Question of the command; '' if it asks none. */
  question: string;
  /** Losses that it printed before. */
  losses: string;
  /** Effect of its first write; undefined if it writes nothing. */
  effect: string | undefined;
}

export interface Plans {
  /** Returns the id of a plan, for one run by the session of this key. */
  add(plan: Plan, key: string): string;
  /**
   * Returns the plan of an id, which ends with it; undefined if it was used, is too old, or is for
   * another session or other arguments.
   */
  take(id: string, key: string, argv: readonly string[]): Plan | undefined;
}

/** Returns the digest of a session's key and the id of a plan. Neither has a space. */
const digest = (key: string, id: string): string =>
  createHash('sha256').update(`${key} ${id}`).digest('hex');

/**
 * Creates the plans of one run of `stowage ui`. It stores only digests of their ids and keys.
 * @param random returns that many random bytes
 */
export function createPlans(
  clock: Pick<Clock, 'now' | 'timeOfDay'>,
  random: (bytes: number) => Buffer = randomBytes,
): Plans {
  const plans = new Map<string, Plan & { at: Moment }>();
  return {
    add(plan, key) {
      const id = random(BYTES).toString('base64url');
      plans.set(digest(key, id), { ...plan, at: momentOf(clock) });
      const [oldest = ''] = plans.keys();
      if (plans.size > MOST_PLANS) plans.delete(oldest);
      return id;
    },
    take(id, key, argv) {
      const hash = digest(key, id);
      const found = plans.get(hash);
      if (found === undefined) return undefined;
      plans.delete(hash);
      const { at, ...plan } = found;
      if (longestSince(at, clock) >= PLAN_MS) return undefined;
      return isDeepStrictEqual(plan.argv, argv) ? plan : undefined;
    },
  };
}

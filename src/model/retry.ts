/**
 * Reports whether a time in an object is less than `ms` ago. A time in the future is by a clock
 * that was set back, or another machine's: it must not hold anything up. `now` is in ms since the
 * epoch.
 */
export function isRecent(time: string | undefined, now: number, ms: number): boolean {
  const age = now - Date.parse(time ?? '');
  return age >= 0 && age < ms;
}

/**
 * Delays (ms) and limits of retries that several controllers share. Rechecks are for changes
 * without an event: any other wait ends with a change of the object that is waited for.
 */
export const RETRY = {
  /** Backoff between the jobs of one operation on a node. */
  betweenJobs: { startMs: 1000, maxMs: 300_000 },
  /** Maximum attempts to move data: into a volume by pods, or into a backup. */
  maxTransfers: 4,
  /** Backoff between transfers. */
  betweenTransfers: { startMs: 10_000, maxMs: 40_000 },
  /** Interval of rechecks of current work: a fill, a blocked deletion, a place in use on a node. */
  recheckSoon: 10_000,
  /** Interval of rechecks of external changes: free space on a node, a pause. */
  recheck: 30_000,
  /** Interval at which a data source is read again, in case no event reported its change. */
  rereadSource: 300_000,
  /** Minimum time between different messages of one reason: ssh's text varies per attempt. */
  sameMessage: 60_000,
  /**
   * Maximum actions in one reconcile. Exceeding it means that the decision does not converge: fail
   * rather than spin.
   */
  maxActions: 50,
  /** Maximum decisions in one reconcile after conflicts with other writers of the same objects. */
  maxConflicts: 5,
} as const;

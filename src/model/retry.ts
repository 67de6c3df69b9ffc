/**
 * Delays and limits of retries that several controllers share; delays in ms. Those to recheck are for what sends no event: all
 * else is woken by the object that it waits for.
 */
export const RETRY = {
  /** Between the jobs of one operation on a node, by backoff. */
  betweenJobs: { startMs: 1000, maxMs: 300_000 },
  /** Attempts to move data: into a volume by pods, or into a backup. */
  maxTransfers: 4,
  /** Between those, by backoff. */
  betweenTransfers: { startMs: 10_000, maxMs: 40_000 },
  /** To recheck what is under way: a fill, a deletion that is held up, a place on a node that others have. */
  recheckSoon: 10_000,
  /** To recheck what others change: room on a node, a pause. */
  recheck: 30_000,
  /** To read a data source again, in case nobody told of a change. */
  rereadSource: 300_000,
  /** For which one message stands for others of its reason: what ssh prints of a node may differ each time. */
  sameMessage: 60_000,
  /** Actions in one reconcile. Exceeding it means that the decision does not converge: it fails rather than spins. */
  maxActions: 50,
  /** Decisions in one reconcile after conflicts with others that write the same objects. */
  maxConflicts: 5,
} as const;

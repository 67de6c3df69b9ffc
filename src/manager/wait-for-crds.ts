import type { KubeObject, Resource } from '../api/meta.ts';
import { ApiError, isNotFound } from '../kube/errors.ts';
import type { KubeClient } from '../kube/types.ts';
import type { Clock } from '../workqueue/clock.ts';
import type { AbsentCrds } from './absent-crds.ts';
import type { ReadinessSource } from './readiness.ts';

/** Interval (ms) at which a kind that is not served is requested again. */
const ASK_AGAIN = 10_000;

/** Reports whether an error proves that a kind is served or not, unlike a server error. */
export const isAnswer = (error: unknown): boolean =>
  error instanceof ApiError && error.statusCode < 500;

export interface WhenServed {
  /** Resolves when the API server serves all kinds; rejects if stopped before. */
  start(): Promise<void>;
  /** Reports whether a kind was requested and is known not to be served. */
  lacks(): boolean;
  /**
   * Returns a readiness source. A kind that is not served counts as current by each such response.
   */
  sourceOf(resource: Resource, lastHeard: () => number): ReadinessSource;
  stop(): void;
}

/**
 * Waits for kinds whose CRDs the cluster may lack, since they belong to other projects: an informer
 * would only log errors. Errors other than "not found" are left to the informer.
 * @param isAnswer reports whether an error is a definite response; others are retried. Needed to
 *   choose among versions of a kind, since a transient error must not select one
 */
export function whenServed(
  client: Pick<KubeClient, 'list'>,
  resources: readonly Resource[],
  clock: Clock,
  absentCrds: AbsentCrds,
  isAnswer: (error: unknown) => boolean = () => true,
): WhenServed {
  const stopping = new AbortController();
  const heard = new Map<string, number>();
  let missing: readonly Resource[] = resources;

  async function isServed(resource: Resource): Promise<boolean> {
    try {
      await client.list<KubeObject>(resource, { limit: 1, signal: stopping.signal });
      return true;
    } catch (error) {
      if (!isNotFound(error)) return isAnswer(error);
      heard.set(resource.plural, clock.now());
      return false;
    }
  }

  async function wait(): Promise<void> {
    for (let round = 0; ; round++) {
      const left: Resource[] = [];
      for (const resource of missing) if (!(await isServed(resource))) left.push(resource);
      missing = left;
      stopping.signal.throwIfAborted();
      if (missing.length === 0) return;
      if (round === 0) absentCrds.report(missing);
      await clock.sleep(ASK_AGAIN, stopping.signal);
    }
  }

  return {
    start: wait,
    lacks: () => missing.some(({ plural }) => heard.has(plural)),
    sourceOf: ({ plural }, lastHeard) => ({
      name: plural,
      lastHeard: () => Math.max(lastHeard(), missing.length === 0 ? 0 : (heard.get(plural) ?? 0)),
    }),
    stop: () => stopping.abort(new Error('stopped')),
  };
}

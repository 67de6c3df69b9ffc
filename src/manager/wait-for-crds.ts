import type { Logger } from '../api/logger.ts';
import type { KubeObject, Resource } from '../api/meta.ts';
import { ApiError, isNotFound } from '../kube/errors.ts';
import type { KubeClient } from '../kube/types.ts';
import type { Clock } from '../workqueue/clock.ts';
import type { ReadinessSource } from './readiness.ts';

/** How soon a kind is asked for again that is not served, in ms. */
const ASK_AGAIN = 10_000;

/** Whether a kind is served at all is told by what the API server says, and not by that it can say nothing. */
export const isAnswer = (error: unknown): boolean =>
  error instanceof ApiError && error.statusCode < 500;

export interface WhenServed {
  /** Resolves when the API server serves all of them; rejects when this is stopped before. */
  start(): Promise<void>;
  /** Whether one of them was asked for and is not served, as far as was heard. */
  lacks(): boolean;
  /** What is not served is heard of by that it is not. */
  sourceOf(resource: Resource, lastHeard: () => number): ReadinessSource;
  stop(): void;
}

/**
 * Waits for kinds that a cluster may lack, as their CRDs are another project's: an informer of one would only complain.
 * An answer other than "not found" is left to the informer.
 * @param isAnswer what else is none is waited out: one of several versions is followed, and not the one that was asked for at a bad time
 */
export function whenServed(
  client: Pick<KubeClient, 'list'>,
  resources: readonly Resource[],
  clock: Clock,
  logger: Logger,
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
      if (round === 0) {
        const kinds = missing.map(({ plural, group }) => `${plural}.${group}`);
        logger.info({ kinds }, 'the API server does not serve these: waiting for their CRDs');
      }
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

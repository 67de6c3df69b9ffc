import type { Logger } from '../../api/logger.ts';
import type { Volume } from '../../api/volume.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/errors.ts';
import { jobKey, parseJobName } from '../../model/job-name.ts';
import { RETRY } from '../../model/retry.ts';
import type { JobWatcher } from '../../nodes/job-watcher.ts';
import { type ActionRunner, nothing, type VolumeFindings } from './actions.ts';
import type { ObjectWrites } from './object-writes.ts';
import type { Decision } from './types.ts';

export interface ActionLoopDeps {
  /**
   * Returns the object to reconcile under that name, from the caches; undefined if this process
   * does not manage it.
   */
  read(name: string): ReconcileTarget | undefined;
  objects: ObjectWrites;
  actions: ActionRunner;
  jobWatcher: JobWatcher;
  /** Requeues the object of that name. */
  enqueue(name: string): void;
  logger: Logger;
}

export interface ReconcileTarget {
  volume: Volume;
  node: string;
  decide(known: VolumeFindings): Decision;
}

/** Reconciles the object of that name. Throws API errors. */
export type Reconcile = (
  name: string,
  signal: AbortSignal,
) => Promise<{ requeueAfterMs?: number; retry?: true } | undefined>;

/** Creates the loop around a decision: reads, decides, carries out one action, and reads again. */
export function createActionLoop(deps: ActionLoopDeps): Reconcile {
  const { read, objects, actions, logger } = deps;
  return async (name, signal) => {
    let known = nothing;
    let before: string | undefined;
    for (let round = 0; round < RETRY.maxActions; round++) {
      signal.throwIfAborted();
      const subject = read(name);
      if (subject === undefined) return undefined;
      const { volume, node } = subject;
      const subjectNow = `${volume.metadata.uid} on ${node}`;
      // The Volume was recreated, or its work moved to another node: discard observations.
      if (before !== undefined && before !== subjectNow) known = nothing;
      before = subjectNow;
      const decision = subject.decide(known);
      if (decision.action === undefined) {
        if (decision.watch) watch(volume, node);
        if (decision.retry) return { retry: true };
        return decision.requeueAfter === undefined
          ? undefined
          : { requeueAfterMs: decision.requeueAfter };
      }
      try {
        known = await actions.carryOut(decision.action, volume, node, known);
      } catch (error) {
        // After a conflict or a deletion the cache is stale: read from the API server.
        if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error;
        logger.warn(
          { volume: name, action: decision.action.do, error: error.message },
          'decided on a stale object; deciding again',
        );
        // The informer reports deletions.
        if (!(await objects.refresh(name)) || isNotFound(error)) return { retry: true };
        known = nothing;
      }
      if (decision.action.do === 'release-volume') return undefined;
    }
    throw new Error(
      `volume ${name}: the decision does not converge after ${RETRY.maxActions} actions`,
    );
  };

  function watch(volume: Volume, node: string): void {
    const job = parseJobName(volume.status?.job);
    if (job?.attempt === undefined) return;
    const key = jobKey(volume.metadata.uid ?? '', job.kind, job.attempt);
    deps.jobWatcher.watch(node, key, () => deps.enqueue(volume.metadata.name));
  }
}

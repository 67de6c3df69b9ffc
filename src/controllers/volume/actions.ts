import type { KubeNode, PersistentVolume, StorageClass } from '../../api/core.ts';
import type { Logger } from '../../api/logger.ts';
import { EVENT } from '../../api/names.ts';
import type { Reason } from '../../api/reasons.ts';
import {
  PERSISTENT_VOLUMES,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUMES,
} from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { isNotFound, isRefusal } from '../../kube/errors.ts';
import type { EventRecorder } from '../../kube/events.ts';
import { getOrUndefined } from '../../kube/get-or-undefined.ts';
import type { Informer } from '../../kube/informer.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { VolumeSource } from '../../model/desired-volume.ts';
import { parseJobName } from '../../model/job-name.ts';
import { isNodeOff } from '../../model/node-health.ts';
import { withJobNode } from '../../model/volume-nodes.ts';
import type { Executor, ProbeResult } from '../../nodes/job.ts';
import { createJobRunner } from '../../nodes/job-runner.ts';
import type { LoopNumbers } from '../../storage/loop-numbers.ts';
import type { Observed } from '../../storage/registry.ts';
import { deadHoldersBeside } from '../../storage/shared-fs/holders.ts';
import type { NodeHold } from '../../storage/shared-fs/types.ts';
import type { Clock } from '../../workqueue/clock.ts';
import { readAdoptionProblem } from './claimants.ts';
import { createLeftover } from './create-leftover.ts';
import { type FillEnded, fillEnded } from './fill-ended.ts';
import { answered, besides, keyOf, type NodePlaces, observe, submit } from './node-work.ts';
import { type ObjectWrites, removeFinalizer } from './object-writes.ts';
import type { ObservationTimes } from './observation-times.ts';
import { secretReads } from './read-secret.ts';
import { readSource } from './source.ts';
import type { Action, EventToSend, Input } from './types.ts';

export interface ActionRunnerDeps extends NodePlaces {
  client: KubeClient;
  objects: ObjectWrites;
  volumeOfUid(uid: string): Volume | undefined;
  /** Called with the observed storage of a Volume on a node. */
  onObserved?: ((volume: Volume, node: string, observed: Observed) => void) | undefined;
  onFilled?: ((end: FillEnded) => void) | undefined;
  persistentVolumes: Informer<PersistentVolume>;
  executor: Executor;
  events: EventRecorder;
  clock: Clock;
  /** Returns since when a node is NotReady, by `now` of the clock; undefined if it is Ready. */
  notReadySince(node: KubeNode): number | undefined;
  /** Time (ms) that a node must be NotReady before storage is adopted from it; Infinity: never. */
  maxWaitForUnmountMs: number;
  logger: Logger;
}

/** Findings within one reconcile, besides the objects. */
export type VolumeFindings = Pick<
  Input,
  | 'liveClass'
  | 'livePv'
  | 'source'
  | 'adoption'
  | 'job'
  | 'observation'
  | 'dead'
  | 'forgotten'
  | 'pvRefused'
  | 'kept'
  | 'cancelled'
  | 'directoryRecorded'
  | 'pathPreferred'
>;
export const nothing: VolumeFindings = {
  liveClass: undefined,
  livePv: undefined,
  source: undefined,
  job: undefined,
  observation: undefined,
  forgotten: undefined,
  pvRefused: undefined,
  kept: undefined,
};

export interface ActionRunner {
  /**
   * Carries out an action and returns the findings after it. Throws API errors. A node that does
   * not answer is a finding, not an error.
   */
  carryOut(
    action: Action,
    volume: Volume,
    node: string,
    known: VolumeFindings,
  ): Promise<VolumeFindings>;
}

/**
 * Creates the runner of Volumes' actions: on nodes and PersistentVolumes itself, on their own
 * objects through `objects`.
 */
export function createActionRunner(
  deps: ActionRunnerDeps,
  observationTimes: ObservationTimes,
  loopNumbers: LoopNumbers,
): ActionRunner {
  const { client, objects, volumeOfUid, persistentVolumes, executor, events, clock, logger } = deps;
  const jobs = createJobRunner(executor);
  return { carryOut };

  async function carryOut(
    action: Action,
    volume: Volume,
    node: string,
    known: VolumeFindings,
  ): Promise<VolumeFindings> {
    const { name, uid = '' } = volume.metadata;
    logger.debug({ volume: name, node, action: action.do, job: volume.status?.job }, 'effect');
    switch (action.do) {
      case 'add-finalizer':
        await objects.protect(volume);
        return known;
      case 'set-status': {
        try {
          await objects.writeStatus(volume, withJobNode(volume, node, action.status));
        } catch (error) {
          // The observation was not reported, so it counts as not made.
          observationTimes.forget(uid);
          throw error;
        }
        const end = fillEnded(volume, action.status, deps.clock.timeOfDay());
        if (end !== undefined) deps.onFilled?.(end);
        const { phase, job } = action.status;
        logger.info(
          {
            volume: name,
            uid,
            node,
            phase,
            job,
            ready: action.status.conditions?.find((c) => c.type === 'Ready'),
          },
          'status',
        );
        if (action.event) {
          const { type, reason, message, detail } = action.event;
          emit(volume, type, reason, message, detail);
        }
        if (job === volume.status?.job) return known;
        // A job name written for the first time has no job on the node, except after restoring a
        // backup that lacks the name.
        const named = parseJobName(job)?.attempt !== undefined;
        return {
          ...nothing,
          observation: known.observation,
          ...(known.dead && { dead: known.dead }),
          ...(named ? { job: { known: { state: 'not-found' }, assumed: true } } : {}),
        };
      }
      case 'read-class':
        try {
          const name = volume.spec.storageClassName;
          return {
            ...known,
            liveClass: { found: await client.get<StorageClass>(STORAGE_CLASSES, name) },
          };
        } catch (error) {
          if (!isNotFound(error)) throw error;
          return { ...known, liveClass: { found: undefined } };
        }
      case 'read-pv':
        return {
          ...known,
          livePv: { found: await getOrUndefined(client, PERSISTENT_VOLUMES, name) },
        };
      case 'read-source':
        return {
          ...known,
          source: await readSource(volume, node, {
            content: (name) => getOrUndefined(client, VOLUME_SNAPSHOT_CONTENTS, name),
            volume: (name) => getOrUndefined(client, VOLUMES, name),
            secret: secretReads(client),
          }),
        };
      case 'read-claimants': {
        const problem = await readAdoptionProblem(
          volume,
          client,
          (of) => {
            const since = deps.notReadySince(of);
            return since === undefined ? undefined : clock.now() - since;
          },
          deps.maxWaitForUnmountMs,
        );
        return { ...known, adoption: { problem } };
      }
      case 'observe':
        return { ...known, ...(await observeOn(volume, node, known.source)) };
      case 'poll':
        // Another job may have run since the last observation.
        return {
          ...known,
          job: await answered(() => jobs.poll(node, keyOf(volume))),
          observation: undefined,
        };
      case 'submit': {
        // Promise the number before any await, so that no other Volume gets it meanwhile.
        loopNumbers.promise(node, uid, action.loopNumber);
        // The cache may be stale: submit only for the state in the API server.
        if (!(await objects.isCurrent(volume, node))) return nothing;
        const job = await submit(jobs, volume, node, action.steps, known.source, deps);
        const seen = 'known' in job && job.known.state === 'succeeded' ? job.known.seen : undefined;
        const next = { ...nothing, source: known.source, job };
        if (seen === undefined) return next;
        return { ...next, ...(await observeOn(volume, node, known.source, seen)) };
      }
      case 'cancel': {
        const cancelled = await besides(jobs, volume, node, 'cancel', action.steps);
        return 'known' in cancelled
          ? { ...known, cancelled: true }
          : { ...nothing, job: cancelled };
      }
      case 'record-directory':
        await besides(jobs, volume, node, 'directory', action.steps);
        return { ...known, directoryRecorded: true };
      case 'prefer-path': {
        const preferred = await besides(jobs, volume, node, 'path', action.steps);
        // Otherwise the job is repeated after the next observation.
        if ('known' in preferred && preferred.known.state === 'succeeded')
          observationTimes.notePath(uid, node);
        return { ...known, pathPreferred: true };
      }
      case 'forget-jobs': {
        const forgotten = await answered(() => jobs.purge(node, uid));
        return 'known' in forgotten
          ? { ...known, forgotten: forgotten.known }
          : { ...nothing, job: forgotten };
      }
      case 'create-pv': {
        // After restoring a backup, the cached Volume may be deleted or replaced.
        const live = await client.get<Volume>(VOLUMES, name);
        if (live.metadata.uid !== uid) throw new Error(`the cache has an earlier Volume ${name}`);
        try {
          persistentVolumes.recordWrite(await client.create(PERSISTENT_VOLUMES, action.pv));
        } catch (error) {
          if (!isRefusal(error)) throw error;
          // A 403 depends on permissions or policies, which may change: retry.
          return {
            ...known,
            pvRefused: { why: error.message, retryable: error.statusCode === 403 },
          };
        }
        emit(volume, 'Normal', EVENT.pvCreation, `PersistentVolume ${name} created`);
        return known;
      }
      case 'grow-pv': {
        const pv = persistentVolumes.get(name);
        const patch = {
          metadata: { uid: pv?.metadata.uid, resourceVersion: pv?.metadata.resourceVersion },
          spec: { capacity: { storage: action.capacity } },
        };
        persistentVolumes.recordWrite(
          await client.patch<PersistentVolume>(PERSISTENT_VOLUMES, name, patch),
        );
        return known;
      }
      case 'delete-pv': {
        const pv = persistentVolumes.get(name);
        await client.delete(PERSISTENT_VOLUMES, name, { uid: pv?.metadata.uid });
        persistentVolumes.recordWrite(await client.get<PersistentVolume>(PERSISTENT_VOLUMES, name));
        emit(volume, 'Normal', EVENT.pvDeletion, `PersistentVolume ${name} marked for deletion`);
        return known;
      }
      case 'keep-leftover':
        return { ...known, kept: await createLeftover(client, action.leftover) };
      case 'release-pv':
        await removeFinalizer(
          client,
          persistentVolumes,
          PERSISTENT_VOLUMES,
          persistentVolumes.get(name),
        );
        return known;
      case 'release-volume': {
        const left =
          known.kept !== undefined && 'as' in known.kept
            ? `storage that may remain on node ${node} is recorded as Leftover ${known.kept.as}`
            : `no storage remains on node ${node}`;
        emit(volume, 'Normal', EVENT.volumeFinalization, left);
        observationTimes.forget(uid);
        loopNumbers.release(node, uid);
        await objects.release(volume);
        return known;
      }
    }
  }

  async function observeOn(
    volume: Volume,
    node: string,
    source?: VolumeSource,
    seen?: ReadonlyMap<string, ProbeResult>,
  ) {
    const { uid = '' } = volume.metadata;
    const observation = await observe(executor, volume, node, volumeOfUid, seen, source, deps);
    if ('known' in observation) {
      observationTimes.note(uid, node);
      deps.onObserved?.(volume, node, observation.known);
      loopNumbers.release(node, uid);
    }
    return {
      observation,
      dead: 'known' in observation ? await deadOf(volume, node, observation.known) : [],
    };
  }

  /**
   * Returns the dead holders of a shared file. Reads them only while a job is named, which may take
   * the file over.
   */
  async function deadOf({ status }: Volume, node: string, observed: Observed): Promise<NodeHold[]> {
    if (parseJobName(status?.job)?.attempt === undefined) return [];
    return deadHoldersBeside(node, observed, (name) => isNodeOff(client, name));
  }

  function emit(
    volume: Volume,
    type: EventToSend['type'],
    reason: string,
    message: string,
    detail?: Reason,
  ): void {
    events.event(objects.objectOf(volume), type, reason, message, detail);
  }
}

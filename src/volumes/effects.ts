import type { PersistentVolume } from '../api/core.ts';
import type { Logger } from '../api/logger.ts';
import { EVENT, PROTECTION_FINALIZER } from '../api/names.ts';
import { PERSISTENT_VOLUMES, VOLUMES } from '../api/resources.ts';
import type { Volume } from '../api/volume.ts';
import type { Clock } from '../control/clock.ts';
import { isNotFound, isRefusal } from '../kube/errors.ts';
import type { EventRecorder } from '../kube/events.ts';
import type { Informer } from '../kube/informer.ts';
import { patchWithRetry } from '../kube/retry.ts';
import type { KubeClient } from '../kube/types.ts';
import type { Executor } from '../nodes/job.ts';
import { parseJobName } from './job-name.ts';
import type { LoopNumbers } from './loop-numbers.ts';
import { forgetJobs, observe, poll, submit } from './node-work.ts';
import type { Action, Input } from './types.ts';

export interface EffectDeps {
  client: KubeClient;
  volumes: Informer<Volume>;
  persistentVolumes: Informer<PersistentVolume>;
  executor: Executor;
  events: EventRecorder;
  clock: Clock;
  logger: Logger;
}

/** What is known within one reconcile beside the objects. */
export type Known = Pick<Input, 'job' | 'observation' | 'forgotten' | 'pvRefused'>;
export const nothing: Known = {
  job: undefined,
  observation: undefined,
  forgotten: undefined,
  pvRefused: undefined,
};

export interface Effects {
  /**
   * Carries out what was decided, and returns what is known after it.
   * Throws what the API server refuses; what a node does not answer is an answer.
   */
  carryOut(action: Action, volume: Volume, node: string, known: Known): Promise<Known>;
  /** Reads a Volume and its PersistentVolume past the caches. False when the Volume is gone. */
  refresh(name: string): Promise<boolean>;
}

/** The only place where Volumes have effects: on objects, and on their nodes. */
export function createEffects(
  deps: EffectDeps,
  lookedAt: Map<string, number>,
  loopNumbers: LoopNumbers,
): Effects {
  const { client, volumes, persistentVolumes, executor, events, clock, logger } = deps;
  return { carryOut, refresh };

  async function refresh(name: string): Promise<boolean> {
    try {
      volumes.learn(await client.get<Volume>(VOLUMES, name));
      const pv = await livePv(name);
      if (pv !== undefined) persistentVolumes.learn(pv);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  async function livePv(name: string): Promise<PersistentVolume | undefined> {
    try {
      return await client.get<PersistentVolume>(PERSISTENT_VOLUMES, name);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async function carryOut(action: Action, volume: Volume, node: string, known: Known): Promise<Known> {
    const { name, uid = '', resourceVersion } = volume.metadata;
    const pvVersion = persistentVolumes.get(name)?.metadata.resourceVersion;
    logger.debug({ volume: name, node, action: action.do, job: volume.status?.job }, 'effect');
    switch (action.do) {
      case 'add-finalizer': {
        const finalizers = [...(volume.metadata.finalizers ?? []), PROTECTION_FINALIZER];
        volumes.learn(await client.patch(VOLUMES, name, { metadata: { finalizers, uid, resourceVersion } }));
        return known;
      }
      case 'set-status': {
        const patch = { metadata: { uid, resourceVersion }, status: action.status };
        volumes.learn(await client.patch<Volume>(VOLUMES, name, patch, { subresource: 'status' }));
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
        if (action.event) events.event(volume, action.event.type, action.event.reason, action.event.message);
        if (job === volume.status?.job) return known;
        // A name that nobody had written before has no job on the node.
        const named = parseJobName(job)?.attempt !== undefined;
        return {
          ...nothing,
          observation: known.observation,
          ...(named ? { job: { known: { state: 'not-found' } } } : {}),
        };
      }
      case 'observe': {
        const observation = await observe(executor, volume, node);
        if ('known' in observation) {
          lookedAt.set(uid, clock.now());
          loopNumbers.release(node, uid);
        }
        return { ...known, observation };
      }
      case 'poll':
        return { ...known, job: await poll(executor, volume, node) };
      case 'submit': {
        // Before anything is awaited, so that no other Volume is promised the same number meanwhile.
        loopNumbers.promise(node, uid, action.loopNumber);
        // The cache may be behind: what is submitted must be what the API server has.
        const [live, pv] = await Promise.all([client.get<Volume>(VOLUMES, name), livePv(name)]);
        volumes.learn(live);
        if (pv !== undefined) persistentVolumes.learn(pv);
        const same =
          live.metadata.resourceVersion === resourceVersion &&
          persistentVolumes.get(name)?.metadata.resourceVersion === pvVersion;
        if (!same) return nothing;
        return { ...nothing, job: await submit(executor, volume, node, action.steps) };
      }
      case 'forget-jobs': {
        const forgotten = await forgetJobs(executor, volume, node);
        return 'known' in forgotten
          ? { ...known, forgotten: forgotten.known }
          : { ...nothing, job: forgotten };
      }
      case 'create-pv':
        try {
          persistentVolumes.learn(await client.create(PERSISTENT_VOLUMES, action.pv));
        } catch (error) {
          if (!isRefusal(error)) throw error;
          return { ...known, pvRefused: error.message };
        }
        events.event(volume, 'Normal', EVENT.pvCreation, `PersistentVolume ${name} created`);
        return known;
      case 'grow-pv': {
        const pv = persistentVolumes.get(name);
        const patch = {
          metadata: { uid: pv?.metadata.uid, resourceVersion: pv?.metadata.resourceVersion },
          spec: { capacity: { storage: action.capacity } },
        };
        persistentVolumes.learn(await client.patch<PersistentVolume>(PERSISTENT_VOLUMES, name, patch));
        return known;
      }
      case 'delete-pv': {
        const pv = persistentVolumes.get(name);
        await client.delete(PERSISTENT_VOLUMES, name, { uid: pv?.metadata.uid });
        persistentVolumes.learn(await client.get<PersistentVolume>(PERSISTENT_VOLUMES, name));
        events.event(volume, 'Normal', EVENT.pvDeletion, `PersistentVolume ${name} marked for deletion`);
        return known;
      }
      case 'release-pv':
        await release(persistentVolumes, PERSISTENT_VOLUMES, persistentVolumes.get(name));
        return known;
      case 'release-volume':
        events.event(volume, 'Normal', EVENT.volumeFinalization, `nothing is left of it on node ${node}`);
        lookedAt.delete(uid);
        loopNumbers.release(node, uid);
        await release(volumes, VOLUMES, volume);
        return known;
    }
  }

  /** Takes our finalizer off an object that is being deleted. */
  async function release<T extends Volume | PersistentVolume>(
    informer: Informer<T>,
    resource: typeof VOLUMES,
    object: T | undefined,
  ): Promise<void> {
    if (object === undefined) return;
    const { name, uid } = object.metadata;
    // Others take their finalizers off at the same time, so a conflict is usual here and changes nothing.
    const released = await patchWithRetry<T>(client, resource, name, ({ metadata }) => {
      const finalizers = (metadata.finalizers ?? []).filter((other) => other !== PROTECTION_FINALIZER);
      const held = finalizers.length !== metadata.finalizers?.length;
      return metadata.uid === uid && held ? { metadata: { finalizers } } : undefined;
    });
    if (released.metadata.uid === uid) informer.learn(released);
  }
}

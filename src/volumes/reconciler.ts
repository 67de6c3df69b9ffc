import type { StorageClass } from '../api/core.ts';
import { isDnsSubdomain } from '../api/dns-name.ts';
import type { Volume } from '../api/volume.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../kube/errors.ts';
import type { Informer } from '../kube/informer.ts';
import type { Follower } from '../nodes/follow.ts';
import { decide } from './decide.ts';
import { nodeOf } from './desired.ts';
import { createEffects, type EffectDeps, nothing } from './effects.ts';
import { jobKey, parseJobName } from './job-name.ts';
import { createLoopNumbers } from './loop-numbers.ts';

export interface VolumeReconcilerDeps extends EffectDeps {
  storageClasses: Informer<StorageClass>;
  follower: Follower;
  /** Whether this process has hands on that node. For others it writes nothing, not even a status. */
  actsFor(node: string): boolean;
  /** Decide again about a Volume. */
  enqueue(name: string): void;
}

export interface VolumeReconciler {
  /** Brings the Volume of that name closer to what is wanted. Throws what the API server refuses. */
  reconcile(
    name: string,
    signal: AbortSignal,
  ): Promise<{ requeueAfterMs?: number; retry?: true } | undefined>;
}

/** No chart has a path as long: a decision that never settles is an error, not a busy loop. */
const MAX_EFFECTS = 50;

/** The thin loop around `decide`: reads, decides, carries out one effect, and reads again. */
export function createVolumeReconciler(deps: VolumeReconcilerDeps): VolumeReconciler {
  const { volumes, persistentVolumes, storageClasses, clock, logger } = deps;
  /** By UID: when the node was last looked at. */
  const lookedAt = new Map<string, number>();
  const loopNumbers = createLoopNumbers();
  const { carryOut, refresh } = createEffects(deps, lookedAt, loopNumbers);

  return {
    async reconcile(name, signal) {
      let known = nothing;
      let before: string | undefined;
      for (let effects = 0; effects < MAX_EFFECTS; effects++) {
        signal.throwIfAborted();
        const volume = volumes.get(name);
        if (volume === undefined) return undefined;
        const { uid = '' } = volume.metadata;
        const node = nodeOf(volume);
        // What can be no node's name is nobody's, so anyone says so.
        if (isDnsSubdomain(node) && !deps.actsFor(node)) return undefined;
        // Another Volume of that name: what is known is not of it.
        if (before !== undefined && before !== uid) known = nothing;
        before = uid;
        const decision = decide(
          {
            volume,
            pv: persistentVolumes.get(name),
            storageClass: storageClasses.get(volume.spec.storageClassName),
            ...known,
            lookedAt: lookedAt.get(uid),
            allotted: loopNumbers.ofOthers(node, uid),
          },
          clock.now(),
        );
        if (decision.action === undefined) {
          if (decision.follow) follow(volume, node);
          if (decision.retry) return { retry: true };
          return decision.requeueAfter === undefined ? undefined : { requeueAfterMs: decision.requeueAfter };
        }
        try {
          known = await carryOut(decision.action, volume, node, known);
        } catch (error) {
          // Someone else wrote, or the object is gone: the cache is behind, so read past it.
          if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error;
          logger.warn({ volume: name, action: decision.action.do, err: error }, 'decided on an old object');
          // What is gone, the informer hears of.
          if (!(await refresh(name)) || isNotFound(error)) return { retry: true };
          known = nothing;
        }
      }
      throw new Error(`volume ${name}: ${MAX_EFFECTS} effects in a row without an end`);
    },
  };

  function follow(volume: Volume, node: string): void {
    const job = parseJobName(volume.status?.job);
    if (job?.attempt === undefined) return;
    const key = jobKey(volume.metadata.uid ?? '', job.kind, job.attempt);
    deps.follower.follow(node, key, () => deps.enqueue(volume.metadata.name));
  }
}

import type { PersistentVolumeClaim } from '../../api/core.ts';
import { SNAPSHOT_FINALIZERS } from '../../api/names.ts';
import { PERSISTENT_VOLUME_CLAIMS, VOLUME_SNAPSHOTS } from '../../api/resources.ts';
import type { VolumeSnapshot } from '../../api/snapshot.ts';
import { listAll } from '../../kube/client.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/errors.ts';
import { patchWithRetry } from '../../kube/retry.ts';
import { isPvOf } from '../../model/persistent-volume.ts';
import { RETRY } from '../../model/retry.ts';
import { contentNameOf } from '../lib/snapshot-content.ts';
import type { Result } from './content-reconciler.ts';
import { protectionOf } from './decide-claim.ts';
import { decideSnapshot } from './decide-snapshot.ts';
import { createSnapshotActionRunner, nothing, type SnapshotFindings } from './snapshot-actions.ts';
import type { SnapshotDeps } from './snapshot-deps.ts';
import type { SnapshotInput } from './types.ts';

export interface SnapshotReconciler {
  reconcile(namespace: string, name: string, signal: AbortSignal): Promise<Result>;
  /**
   * Adds the source finalizer to a claim that is a source, or removes it from one that is none any
   * more.
   */
  reconcileClaim(namespace: string, name: string): Promise<Result>;
}

/** Returns the loop around `decideSnapshot`: reads, decides, carries out one action, repeats. */
export function createSnapshotReconciler(deps: SnapshotDeps): SnapshotReconciler {
  const { client, snapshots, claims, contents, clock, logger } = deps;
  const actions = createSnapshotActionRunner(deps);

  async function reconcile(namespace: string, name: string, signal: AbortSignal): Promise<Result> {
    let known: SnapshotFindings = nothing;
    let uid: string | undefined;
    for (let round = 0; round < RETRY.maxActions; round++) {
      signal.throwIfAborted();
      const snapshot = snapshots.get(name, namespace);
      if (snapshot === undefined) return undefined;
      if (uid !== undefined && uid !== snapshot.metadata.uid) known = nothing;
      uid = snapshot.metadata.uid;
      const { action, requeueAfter } = decideSnapshot(inputOf(snapshot, known), clock.timeOfDay());
      if (action === undefined)
        return requeueAfter === undefined ? undefined : { requeueAfterMs: requeueAfter };
      try {
        const after = await actions.carryOut(action, snapshot, known);
        if (after === 'stale') return { retry: true };
        known = after;
      } catch (error) {
        // The cache is stale: an object was written or deleted meanwhile. Refresh it by live reads.
        if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error;
        logger.warn(
          { snapshot: `${namespace}/${name}`, action: action.do, error: error.message },
          'decided on a stale object; deciding again',
        );
        if (!(await actions.refresh(snapshot)) || isNotFound(error)) return { retry: true };
        known = nothing;
      }
      if (action.do === 'take-off-finalizers') return undefined;
    }
    throw new Error(
      `VolumeSnapshot ${namespace}/${name}: the decision does not converge after ${RETRY.maxActions} actions`,
    );
  }

  function inputOf(snapshot: VolumeSnapshot, known: SnapshotFindings): SnapshotInput {
    const { namespace } = snapshot.metadata;
    const contentName = contentNameOf(snapshot) ?? '';
    const claim = claims.get(snapshot.spec.source.persistentVolumeClaimName ?? '', namespace);
    const pv = deps.persistentVolumes.get(claim?.spec.volumeName ?? '');
    return {
      snapshot,
      mode: deps.mode(),
      content: contents.get(contentName),
      claim,
      pv,
      volume: pv && deps.volumes.get(pv.metadata.name),
      classes: deps.snapshotClasses.list(),
      restores: deps.restoresOf(contentName),
      ...known,
    };
  }

  /**
   * Reports whether the standard snapshot-controller forgot its finalizer on a claim. If a snapshot
   * is deleted right after that controller added the finalizer, its cache may lack the finalizer.
   * Nothing makes it check a claim without snapshots again.
   */
  async function isForgotten({ metadata, spec }: PersistentVolumeClaim): Promise<boolean> {
    const { namespace = '', name, finalizers } = metadata;
    if (!finalizers?.includes(SNAPSHOT_FINALIZERS.claimAsSource)) return false;
    if (deps.snapshotsOfClaim(namespace, name).length > 0) return false;
    const pv = deps.persistentVolumes.get(spec.volumeName ?? '');
    const volume = pv && deps.volumes.get(pv.metadata.name);
    if (pv === undefined || volume === undefined || !isPvOf(pv, volume)) return false;
    const { items } = await listAll<VolumeSnapshot>(client, VOLUME_SNAPSHOTS, { namespace });
    return !items.some((each) => each.spec.source.persistentVolumeClaimName === name);
  }

  async function reconcileClaim(namespace: string, name: string): Promise<Result> {
    const claim = claims.get(name, namespace);
    if (claim === undefined) return undefined;
    const uses = {
      claim,
      snapshots: deps.snapshotsOfClaim(namespace, name),
      clones: deps.clonesOf(claim.spec.volumeName ?? ''),
      isLost: ({ status }: VolumeSnapshot) => {
        const bound = status?.boundVolumeSnapshotContentName;
        return bound !== undefined && contents.get(bound) === undefined;
      },
    };
    const todo = protectionOf(uses);
    if (todo === undefined) return undefined;
    if (todo === 'take-off' && deps.mode() === 'external' && !(await isForgotten(claim)))
      return undefined;
    try {
      const written = await patchWithRetry<PersistentVolumeClaim>(
        client,
        PERSISTENT_VOLUME_CLAIMS,
        name,
        ({ metadata }) => {
          const before = metadata.finalizers ?? [];
          const others = before.filter((each) => each !== SNAPSHOT_FINALIZERS.claimAsSource);
          const finalizers =
            todo === 'put-on' ? [...others, SNAPSHOT_FINALIZERS.claimAsSource] : others;
          const isDone = finalizers.length === before.length;
          const isGoing = todo === 'put-on' && metadata.deletionTimestamp !== undefined;
          return metadata.uid !== claim.metadata.uid || isDone || isGoing
            ? undefined
            : { metadata: { finalizers } };
        },
        { namespace },
      );
      claims.recordWrite(written);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    return undefined;
  }

  return { reconcile, reconcileClaim };
}

import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/core.ts';
import type { Logger } from '../../api/logger.ts';
import {
  POPULATE_ATTEMPTS_ANNOTATION,
  POPULATE_FINALIZER,
  POPULATED_BY_ANNOTATION,
  POPULATED_FROM_ANNOTATION,
  SELECTED_NODE_ANNOTATION,
} from '../../api/names.ts';
import type { Reason } from '../../api/reasons.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../api/resources.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { Informer } from '../../kube/informer.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { EventToSend } from '../lib/event.ts';
import { primeNameOf } from './objects.ts';
import type { PopulatorAction } from './types.ts';

export interface ActionRunnerDeps {
  client: KubeClient;
  claims: Informer<PersistentVolumeClaim>;
  persistentVolumes: Informer<PersistentVolume>;
  pods: Informer<Pod>;
  events: EventRecorder;
  once(
    object: PersistentVolumeClaim,
    type: EventToSend['type'],
    reason: string,
    message: string,
    detail: Reason | undefined,
  ): Promise<void>;
  /** Namespace of prime claims and pods. */
  namespace: string;
  logger: Logger;
}

/** Actions that write objects; all others only read or emit events. */
export type WriteAction = Exclude<
  PopulatorAction,
  | { do: 'read-claim' }
  | { do: 'resolve-source' }
  | { do: 'emit-event' }
  | { do: 'read-prime-events' }
  | { do: 'read-pod-events' }
>;

/**
 * Returns a function that carries out one action. Each write names its object by UID or version.
 * Resolves to false if the object is not as decided on, such as a claim that no longer waits.
 * Throws other refusals of the API server.
 */
export function createActionRunner(deps: ActionRunnerDeps) {
  const { client, claims, persistentVolumes, pods, namespace } = deps;
  const emit = (
    claim: PersistentVolumeClaim | undefined,
    { type, reason, message, detail }: EventToSend,
  ) => {
    if (claim !== undefined) deps.events.event(claim, type, reason, message, detail);
  };

  return async (
    effect: WriteAction,
    uid: string,
    claim: PersistentVolumeClaim | undefined,
  ): Promise<boolean> => {
    deps.logger.info({ claim: claim?.metadata.name, uid, effect: effect.do }, 'population');
    switch (effect.do) {
      case 'add-finalizer':
        await patchFinalizers(claim, (before) => [...before, POPULATE_FINALIZER]);
        return true;
      case 'remove-finalizer': {
        const { finished } = effect;
        if (finished !== undefined && claim !== undefined) {
          const { type, reason, message, detail } = finished;
          await deps.once(claim, type, reason, message, detail);
        }
        await patchFinalizers(claim, (before) =>
          before.filter((each) => each !== POPULATE_FINALIZER),
        );
        return true;
      }
      case 'create-prime':
        claims.recordWrite(
          await client.create(PERSISTENT_VOLUME_CLAIMS, effect.prime, { namespace }),
        );
        return true;
      case 'delete-prime':
        await remove(PERSISTENT_VOLUME_CLAIMS, effect.prime);
        return true;
      case 'create-pod':
        pods.recordWrite(await client.create(PODS, effect.pod, { namespace }));
        emit(claim, effect.event);
        return true;
      case 'delete-pod':
        await remove(PODS, effect.pod);
        return true;
      case 'note-attempts':
        await annotatePrime(uid, {
          [POPULATE_ATTEMPTS_ANNOTATION]: JSON.stringify(effect.attempts),
        });
        emit(claim, effect.event);
        return true;
      case 'mark-populated':
        await annotatePrime(uid, { [POPULATED_BY_ANNOTATION]: effect.pod.metadata.uid ?? '' });
        return true;
      case 'give-back': {
        if (claim === undefined) return false;
        await patchClaim(claim, { annotations: { [SELECTED_NODE_ANNOTATION]: null } });
        emit(claim, effect.event);
        return true;
      }
      case 'release-pv':
        return releasePv(effect.pv, uid, claim);
      case 'rebind':
        return rebind(effect.pv, effect.from, claim);
    }
  };

  async function patchFinalizers(
    claim: PersistentVolumeClaim | undefined,
    change: (before: string[]) => string[],
  ): Promise<void> {
    if (claim !== undefined)
      await patchClaim(claim, { finalizers: change(claim.metadata.finalizers ?? []) });
  }

  /** Patches the cached version only: a patch replaces the list of finalizers as a whole. */
  async function patchClaim({ metadata }: PersistentVolumeClaim, change: object): Promise<void> {
    const { name, namespace: own, uid, resourceVersion } = metadata;
    const patch = { metadata: { uid, resourceVersion, ...change } };
    claims.recordWrite(
      await client.patch(PERSISTENT_VOLUME_CLAIMS, name, patch, { namespace: own }),
    );
  }

  async function annotatePrime(uid: string, annotations: Record<string, string>): Promise<void> {
    const name = primeNameOf(uid);
    const patch = { metadata: { uid: claims.get(name, namespace)?.metadata.uid, annotations } };
    claims.recordWrite(await client.patch(PERSISTENT_VOLUME_CLAIMS, name, patch, { namespace }));
  }

  async function remove(
    resource: typeof PODS,
    { metadata: { name, uid } }: PersistentVolumeClaim | Pod,
  ): Promise<void> {
    try {
      await client.delete(resource, name, { namespace, uid });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** Returns the claim by a live read if it still waits for its volume. */
  async function waitingNow(
    claim: PersistentVolumeClaim,
  ): Promise<PersistentVolumeClaim | undefined> {
    const { name, namespace: own, uid } = claim.metadata;
    const live = await client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, {
      namespace: own,
    });
    return live.metadata.uid === uid && !live.spec.volumeName ? live : undefined;
  }

  async function releasePv(
    pv: PersistentVolume,
    uid: string,
    claim: PersistentVolumeClaim | undefined,
  ) {
    const { name, uid: pvUid, resourceVersion } = pv.metadata;
    const isClaims = pv.spec.claimRef?.uid === uid;
    if (isClaims && (claim === undefined || (await waitingNow(claim)) === undefined)) return false;
    const patch = {
      metadata: { uid: pvUid, resourceVersion },
      spec: { persistentVolumeReclaimPolicy: 'Delete' },
    };
    persistentVolumes.recordWrite(await client.patch(PERSISTENT_VOLUMES, name, patch));
    return true;
  }

  /**
   * Binds the volume to the claim if the claim still waits and the PersistentVolume is unchanged.
   */
  async function rebind(
    pv: PersistentVolume,
    from: string,
    claim: PersistentVolumeClaim | undefined,
  ) {
    const live = claim && (await waitingNow(claim));
    if (live === undefined || live.metadata.deletionTimestamp !== undefined) return false;
    const { name, namespace: own, uid, resourceVersion } = live.metadata;
    const patch = {
      metadata: {
        uid: pv.metadata.uid,
        resourceVersion: pv.metadata.resourceVersion,
        annotations: { [POPULATED_FROM_ANNOTATION]: from },
      },
      spec: {
        claimRef: {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          ...{ namespace: own, name, uid, resourceVersion },
        },
      },
    };
    persistentVolumes.recordWrite(await client.patch(PERSISTENT_VOLUMES, pv.metadata.name, patch));
    return true;
  }
}

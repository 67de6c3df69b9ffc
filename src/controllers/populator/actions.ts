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
import type { MachineAction } from './types.ts';

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
  /** Where prime claims and pods are. */
  namespace: string;
  logger: Logger;
}

/** What a decision has the API server changed; all else is only looked at. */
export type WriteAction = Exclude<
  MachineAction,
  | { do: 'read-claim' }
  | { do: 'resolve-source' }
  | { do: 'tell' }
  | { do: 'look-at-prime' }
  | { do: 'look-at-pod' }
>;

/**
 * Carries out one effect. Each names the very object that was decided on, by UID or version; resolves to false where that was
 * not the one, as of a claim that is not waiting any more. Throws what the API server refuses otherwise.
 */
export function createActionRunner(deps: ActionRunnerDeps) {
  const { client, claims, persistentVolumes, pods, namespace } = deps;
  const tell = (
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
        tell(claim, effect.event);
        return true;
      case 'delete-pod':
        await remove(PODS, effect.pod);
        return true;
      case 'note-attempts':
        await annotatePrime(uid, {
          [POPULATE_ATTEMPTS_ANNOTATION]: JSON.stringify(effect.attempts),
        });
        tell(claim, effect.event);
        return true;
      case 'mark-populated':
        await annotatePrime(uid, { [POPULATED_BY_ANNOTATION]: effect.pod.metadata.uid ?? '' });
        return true;
      case 'give-back': {
        if (claim === undefined) return false;
        await patchClaim(claim, { annotations: { [SELECTED_NODE_ANNOTATION]: null } });
        tell(claim, effect.event);
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

  /** As it was seen: its finalizers are a list, which a patch replaces as a whole. */
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

  /** The claim as the API server has it, if it waits for its volume still. */
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

  /** The moment from which the volume is the claim's: of all that may have happened to either, nothing did. */
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

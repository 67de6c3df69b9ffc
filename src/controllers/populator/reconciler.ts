import type { PersistentVolumeClaim, Pod, StorageClass, Toleration } from '../../api/core.ts';
import type { PopulatorDefinition } from '../../api/populator.ts';
import { parseQuantity } from '../../api/quantity.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../api/resources.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/errors.ts';
import { getOrUndefined } from '../../kube/get-or-undefined.ts';
import { indexBy } from '../../kube/index-by.ts';
import type { Informer } from '../../kube/informer.ts';
import { sourceReference } from '../../model/data-source/reference.ts';
import { definitionsFor } from '../../model/populator-definition.ts';
import { RETRY } from '../../model/retry.ts';
import { type Clock, timeOfDayAt } from '../../workqueue/clock.ts';
import { EMIT_AGAIN_AFTER } from '../../workqueue/emit-again.ts';
import type { EventToSend } from '../lib/event.ts';
import { eventKey } from '../lib/event-key.ts';
import { type ActionRunnerDeps, createActionRunner, type WriteAction } from './actions.ts';
import { refusalOf } from './api-refusal.ts';
import { decide } from './decide.ts';
import { podNameOf, primeNameOf, targetOf } from './objects.ts';
import { isUnscheduled } from './pod-state.ts';
import type { PopulatorAction, PopulatorInput, SourceFound } from './types.ts';
import { createWarnings } from './warnings.ts';

/** Completed population, or failed pod of one. */
export interface Populated {
  result: 'success' | 'error';
  /** Time since the pod was created; undefined if this process has not observed the pod. */
  ms?: number;
  /** Size and class of the volume that the claim got. */
  filled?: { bytes: bigint; storageClass: string };
}

export interface PopulatorDeps extends ActionRunnerDeps {
  storageClasses: Informer<StorageClass>;
  definitions: Informer<PopulatorDefinition>;
  /** Reads the object that a claim is filled from. Throws errors of the API server. */
  findSource(claim: PersistentVolumeClaim, definition: PopulatorDefinition): Promise<SourceFound>;
  /** Default user ID of populator pods. */
  user: number;
  /** Returns the tolerations of the pod that waits for a claim. */
  consumerTolerations(claim: PersistentVolumeClaim): readonly Toleration[];
  clock: Pick<Clock, 'now' | 'timeOfDay'>;
  onPopulated?: ((end: Populated) => void) | undefined;
}

export interface PopulatorReconciler {
  /** Reconciles the claim with this UID. */
  reconcile(
    uid: string,
    signal: AbortSignal,
  ): Promise<{ requeueAfterMs?: number; retry?: true } | undefined>;
  /** Returns the UIDs of claims that wait for something that an event reports. */
  waiting(): IterableIterator<string>;
}

/** Results of live reads in one reconcile, until the next write. */
type Asked = Pick<PopulatorInput, 'liveClaim' | 'source' | 'primeWarning' | 'podWarning'>;
const NOTHING: Asked = {
  liveClaim: undefined,
  source: undefined,
  primeWarning: undefined,
  podWarning: undefined,
};

/** Creates the controller that fills claims by pods. Call it before the informers start. */
export function createPopulatorReconciler(deps: PopulatorDeps): PopulatorReconciler {
  const { client, claims, persistentVolumes, pods, storageClasses, definitions, namespace, clock } =
    deps;
  const claimsOfUid = indexBy(claims, ({ metadata }) => metadata.uid);
  const pvsOfClaim = indexBy(persistentVolumes, ({ spec }) => spec.claimRef?.uid);
  const carryOut = createActionRunner(deps);
  const warnings = createWarnings(client, namespace);
  /** Last event by claim UID, the key of the next three as well. */
  const emitted = new Map<string, NonNullable<PopulatorInput['lastEvent']> & { at: number }>();
  const creating = new Set<string>();
  /** Creation time of each claim's pod, in ms since the epoch, whichever process created it. */
  const begun = new Map<string, number>();
  /** Last observed pod of each claim, and since when it exists, by `now` of the clock. */
  const lastPods = new Map<string, { uid: string; seenAt: number }>();

  /** Returns the age (ms) of a pod by the clock of the API server; 0 if that is unknown. */
  function ageOf(pod: Pod | undefined): number {
    const created = Date.parse(pod?.metadata.creationTimestamp ?? '');
    return Math.max(0, (client.serverTime() ?? 0) - created) || 0;
  }

  function inputOf(uid: string, asked: Asked): PopulatorInput {
    const [claim] = claimsOfUid(uid);
    const prime = claims.get(primeNameOf(uid), namespace);
    const [ownPv] = pvsOfClaim(uid);
    const primePv = prime?.spec.volumeName
      ? persistentVolumes.get(prime.spec.volumeName)
      : undefined;
    const kind = claim && sourceReference(claim);
    const pod = pods.get(podNameOf(uid), namespace);
    const podUid = pod?.metadata.uid;
    if (podUid !== undefined && lastPods.get(uid)?.uid !== podUid)
      lastPods.set(uid, { uid: podUid, seenAt: clock.now() - ageOf(pod) });
    if (pod?.metadata.creationTimestamp !== undefined)
      begun.set(uid, Date.parse(pod.metadata.creationTimestamp));
    else if (prime === undefined) lastPods.delete(uid);
    const lastPod = lastPods.get(uid);
    return {
      ...asked,
      uid,
      claim,
      prime,
      pod,
      ...(lastPod && pod && { podSeenAt: timeOfDayAt(lastPod.seenAt, clock) }),
      vanished: pod === undefined ? lastPod?.uid : undefined,
      pv: ownPv ?? primePv,
      definitions: kind === undefined ? [] : definitionsFor(definitions.list(), kind),
      storageClass: storageClasses.get(claim?.spec.storageClassName ?? ''),
      running: running(uid, claim?.metadata.namespace),
      lastEvent: lastEvent(uid),
      namespace,
      user: deps.user,
      tolerations: claim === undefined ? [] : deps.consumerTolerations(claim),
    };
  }

  function lastEvent(uid: string): PopulatorInput['lastEvent'] {
    const last = emitted.get(uid);
    return last !== undefined && clock.now() - last.at < EMIT_AGAIN_AFTER ? last : undefined;
  }

  /** Counts the pods that fill other claims, or are about to. Used only while `uid` has no pod. */
  function running(uid: string, namespace: string | undefined): PopulatorInput['running'] {
    const namespaces = new Map<string, string | undefined>();
    for (const each of creating) {
      if (each !== uid) namespaces.set(podNameOf(each), claimsOfUid(each)[0]?.metadata.namespace);
    }
    for (const pod of pods.list()) {
      const isOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
      if (!isOver && !isUnscheduled(pod))
        namespaces.set(pod.metadata.name, targetOf(pod)?.namespace);
    }
    const own = [...namespaces.values()].filter((each) => each === namespace).length;
    return { all: namespaces.size, own };
  }

  async function reconcile(uid: string, signal: AbortSignal) {
    let asked: Asked = NOTHING;
    for (let round = 0; round < RETRY.maxActions; round++) {
      signal.throwIfAborted();
      const input = inputOf(uid, asked);
      const { claim } = input;
      if (claim === undefined && input.prime === undefined && input.pod === undefined) {
        emitted.delete(uid);
        begun.delete(uid);
        lastPods.delete(uid);
        return undefined;
      }
      const { action, requeueAfter } = decide(input, clock.timeOfDay());
      if (action === undefined) {
        const next = Math.min(
          requeueAfter ?? Infinity,
          emitted.has(uid) ? EMIT_AGAIN_AFTER : Infinity,
        );
        return next === Infinity ? undefined : { requeueAfterMs: next };
      }
      switch (action.do) {
        case 'read-claim':
          asked = { ...asked, liveClaim: { found: await liveClaim(action) } };
          continue;
        case 'resolve-source':
          if (claim !== undefined) {
            asked = { ...asked, source: await deps.findSource(claim, action.definition) };
          }
          continue;
        case 'read-prime-events':
          asked = { ...asked, primeWarning: { found: await warnings.against(action.prime) } };
          continue;
        case 'read-pod-events':
          asked = { ...asked, podWarning: { found: await warnings.lastOf(action.pod) } };
          continue;
        case 'emit-event':
          emit(uid, claim, action.event);
          continue;
        default:
          if (!(await tryTo(action, uid, claim))) return { retry: true } as const;
          // Each use needs a live read of its own, above all of the grant.
          asked = NOTHING;
          // The watch event of the deletion triggers the next reconcile.
          if (action.do === 'delete-prime' || action.do === 'delete-pod') return undefined;
      }
    }
    throw new Error(
      `claim of UID ${uid}: the decision does not converge after ${RETRY.maxActions} actions`,
    );
  }

  async function tryTo(
    effect: WriteAction,
    uid: string,
    claim: PersistentVolumeClaim | undefined,
  ): Promise<boolean> {
    try {
      if (effect.do === 'create-pod') creating.add(uid);
      const done = await carryOut(effect, uid, claim);
      if (done) count(effect, uid, claim);
      return done;
    } catch (error) {
      const refused = refusalOf(effect, error, namespace);
      if (refused !== undefined) {
        deps.logger.warn({ uid, effect: effect.do, err: error }, 'refused by the API server');
        if (lastEvent(uid)?.key !== eventKey(refused)) emit(uid, claim, refused);
        return false;
      }
      if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error;
      deps.logger.warn(
        { uid, effect: effect.do, error: error.message },
        'decided on a stale object; deciding again',
      );
      return false;
    } finally {
      creating.delete(uid);
    }
  }

  function emit(uid: string, claim: PersistentVolumeClaim | undefined, event: EventToSend): void {
    const { type, reason, message, detail } = event;
    emitted.set(uid, { reason, key: eventKey(event), at: clock.now() });
    if (claim !== undefined) deps.events.event(claim, type, reason, message, detail);
  }

  function count(effect: WriteAction, uid: string, claim: PersistentVolumeClaim | undefined): void {
    // An outdated pod is recorded with the failures before it.
    const isFailure = effect.do === 'note-attempts' && effect.event.type === 'Warning';
    const result = effect.do === 'rebind' ? 'success' : isFailure ? 'error' : undefined;
    if (result === undefined) return;
    const filled = effect.do === 'rebind' && {
      bytes: parseQuantity(effect.pv.spec.capacity.storage),
      storageClass: claim?.spec.storageClassName ?? '',
    };
    const since = begun.get(uid);
    const ms = since === undefined ? {} : { ms: Math.max(0, clock.timeOfDay() - since) };
    deps.onPopulated?.({ result, ...ms, ...(filled && { filled }) });
    begun.delete(uid);
    emitted.delete(uid);
  }

  const liveClaim = ({ name, namespace }: Extract<PopulatorAction, { do: 'read-claim' }>) =>
    getOrUndefined<PersistentVolumeClaim>(client, PERSISTENT_VOLUME_CLAIMS, name, namespace);

  return { reconcile, waiting: () => emitted.keys() };
}

import { isDeepStrictEqual } from 'node:util';
import type { PersistentVolumeClaim } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import { DRIVER, SELECTED_NODE_ANNOTATION } from '../../api/names.ts';
import { parseQuantity } from '../../api/quantity.ts';
import { PERSISTENT_VOLUME_CLAIMS, VOLUMES } from '../../api/resources.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/errors.ts';
import { claimOf, volumeNameOf } from '../../model/claim-volume.ts';
import type { Awaited } from '../../model/data-source/types.ts';
import { dynamicClass } from '../../model/dynamic-class.ts';
import { RETRY } from '../../model/retry.ts';
import { driverOfSpec } from '../../storage/registry.ts';
import { processTimeOf } from '../../workqueue/clock.ts';
import { EMIT_AGAIN_AFTER } from '../../workqueue/emit-again.ts';
import type { EventToSend } from '../lib/event.ts';
import { eventKey } from '../lib/event-key.ts';
import { decideClaim } from './decide-claim.ts';
import type { ClaimReconcilerDeps } from './deps.ts';
import { kindOf } from './kind-of.ts';
import { createReclaimer } from './reclaimer.ts';
import { createSourceResolver } from './source-resolver.ts';
import type { ClaimAction, ClaimInput, ClaimStart, Provisioned } from './types.ts';

export interface ClaimReconciler {
  /**
   * Reports whether a claim (`namespace/name`) waits for its data source;
   * nothing else lets it continue.
   */
  waitsForSource(key: string): boolean;
  /** Returns the claims (`namespace/name`) that wait for such an object. */
  waitingFor(kind: Awaited['kind'], object: KubeObject): string[];
  /** Reconciles a claim, by `namespace/name`, or the Volume of a claim, by its name. */
  reconcile(
    key: string,
    signal: AbortSignal,
  ): Promise<{ requeueAfterMs?: number; retry?: true } | undefined>;
}

const sizeOf = ({ spec }: PersistentVolumeClaim): bigint =>
  parseQuantity(spec.resources?.requests?.storage ?? '0');

/** Returns how long (ms) the last event of a claim still stands. `now` is by the same clock. */
const leftOf = (
  last: { uid: string; at: number } | undefined,
  { metadata }: PersistentVolumeClaim,
  now: number,
): number =>
  last !== undefined && last.uid === metadata.uid ? last.at + EMIT_AGAIN_AFTER - now : 0;

export function createClaimReconciler(deps: ClaimReconcilerDeps): ClaimReconciler {
  const { client, claims, volumes, persistentVolumes, storageClasses, nodes, rooms, reservations } =
    deps;
  /** Last event of each claim, by `namespace/name`. */
  const emitted = new Map<string, { uid: string; event: string; at: number }>();

  const reclaim = createReclaimer(deps);
  const sources = createSourceResolver(deps.resolve);
  /** Unbound claims that have a Volume, by `namespace/name`. */
  const begun = new Map<string, { uid: string; at: number; end: Provisioned }>();

  async function reconcile(key: string, signal: AbortSignal) {
    const slash = key.indexOf('/');
    if (slash === -1) return reclaim(key, signal);
    return provision(key.slice(0, slash), key.slice(slash + 1), signal);
  }

  async function provision(namespace: string, name: string, signal: AbortSignal) {
    const key = `${namespace}/${name}`;
    let source: ClaimStart | undefined;
    let of: string | undefined;
    let isFresh = false;
    let isCounted = false;
    for (let round = 0; round < RETRY.maxActions; round++) {
      signal.throwIfAborted();
      const claim = claims.get(name, namespace);
      if (claim === undefined) {
        emitted.delete(key);
        sources.forget(key);
        begun.delete(key);
        return undefined;
      }
      if (claim.spec.volumeName) sources.forget(key);
      // A recreated claim has a data source of its own.
      if (claim.metadata.uid !== of) source = undefined;
      of = claim.metadata.uid;
      const since = begun.get(key);
      if (since !== undefined && claim.status?.phase === 'Bound') {
        begun.delete(key);
        if (since.uid === claim.metadata.uid) {
          deps.onProvisioned?.({ ...since.end, ms: deps.clock.now() - since.at });
        }
      }
      // Include a Volume that an earlier process created.
      const own = volumes.get(volumeNameOf(claim));
      if (
        since === undefined &&
        claim.status?.phase !== 'Bound' &&
        own &&
        claimOf(own)?.uid === of
      ) {
        const at = processTimeOf(own.metadata.creationTimestamp, deps.clock) ?? deps.clock.now();
        begun.set(key, { uid: of ?? '', at, end: kindOf(claim) });
      }
      const now = deps.clock.now();
      const standsFor = leftOf(emitted.get(key), claim, now);
      // A Volume from a populator is named after the prime claim.
      const volumeName = claim.spec.volumeName || volumeNameOf(claim);
      const volume = volumes.get(volumeName);
      // The cache keeps no class of a bound claim.
      const className = volume?.spec.storageClassName ?? claim.spec.storageClassName ?? '';
      const storageClass = storageClasses.get(className);
      const options = storageClass?.provisioner === DRIVER ? dynamicClass(storageClass) : undefined;
      const input: ClaimInput = {
        claim,
        storageClass,
        options,
        volume,
        pv: persistentVolumes.get(volumeName),
        consumers: deps.consumersOf(claim),
        nodes: nodes.list().filter(({ metadata }) => deps.managesNode(metadata.name)),
        isGone: (node) => deps.managesNode(node) && nodes.get(node) === undefined,
        roomOn: (node) =>
          options === undefined || 'problem' in options
            ? undefined
            : rooms.room(node, options.place, options.overcommit),
        source,
        lastEventKey: standsFor > 0 ? emitted.get(key)?.event : undefined,
      };
      const decision = decideClaim(input, deps.clock.timeOfDay());
      const { action } = decision;
      // A Volume that failed counts as one attempt, however often it is reconciled.
      const isAttempt =
        volume === undefined || action?.do === 'emit-event' || action?.do === 'take-back';
      if (decision.failed && !isCounted && isAttempt) {
        isCounted = true;
        deps.onProvisioned?.(kindOf(claim));
      }
      if (action === undefined) {
        const next = Math.min(
          decision.requeueAfter ?? Infinity,
          standsFor > 0 ? standsFor : Infinity,
        );
        return Number.isFinite(next) ? { requeueAfterMs: next } : undefined;
      }
      if (action.do === 'resolve-source') {
        source = await sources.ask(key, claim);
        isFresh = true;
        continue;
      }
      try {
        const found = await carryOut(action, claim, isFresh);
        isFresh = found !== undefined;
        source = found ?? source;
      } catch (error) {
        if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error;
        deps.logger.warn(
          { claim: `${namespace}/${name}`, action: action.do, error: error.message },
          'decided on a stale object; deciding again',
        );
        return { retry: true } as const;
      }
      if (action.do === 'give-back' || action.do === 'take-back') return undefined;
    }
    throw new Error(
      `claim ${namespace}/${name}: the decision does not converge after ${RETRY.maxActions} actions`,
    );
  }

  const emit = (claim: PersistentVolumeClaim, { type, reason, message, detail }: EventToSend) =>
    deps.events.event(claim, type, reason, message, detail);

  async function unselectNode(
    claim: PersistentVolumeClaim,
    node: string,
    event: EventToSend,
  ): Promise<void> {
    const { namespace = '', name, uid, resourceVersion } = claim.metadata;
    // The version keeps a node that was chosen meanwhile.
    const patch = {
      metadata: { uid, resourceVersion, annotations: { [SELECTED_NODE_ANNOTATION]: null } },
    };
    claims.recordWrite(await client.patch(PERSISTENT_VOLUME_CLAIMS, name, patch, { namespace }));
    emit(claim, event);
    deps.logger.info(
      { claim: `${namespace}/${name}`, node },
      'asked the scheduler for another node',
    );
  }

  /**
   * Carries out one action.
   * @param isFresh the data source was resolved right before
   * @returns the data source if it is not as decided on
   */
  async function carryOut(
    action: Exclude<ClaimAction, { do: 'resolve-source' }>,
    claim: PersistentVolumeClaim,
    isFresh: boolean,
  ): Promise<ClaimStart | undefined> {
    const { namespace = '', name, uid = '' } = claim.metadata;
    switch (action.do) {
      case 'observe-room':
        await Promise.all(action.nodes.map((node) => rooms.observe(node, action.place)));
        return undefined;
      case 'emit-event':
        emitted.set(`${namespace}/${name}`, {
          uid,
          event: eventKey(action.event),
          at: deps.clock.now(),
        });
        emit(claim, action.event);
        return undefined;
      case 'take-back': {
        const { volume, place, node } = action;
        // A class that consents to overwriting makes the refusal obsolete.
        if (place.type === 'lvm' && !place.overwrite)
          rooms.refuse(volume.spec.nodeName, place, sizeOf(claim));
        await client.delete(VOLUMES, volume.metadata.name, { uid: volume.metadata.uid });
        if (node === undefined) emit(claim, action.event);
        else await unselectNode(claim, node, action.event);
        return undefined;
      }
      case 'give-back':
        await unselectNode(claim, action.node, action.event);
        return undefined;
      case 'create-volume': {
        // Reserve before the first await: no other decision may count on the same room.
        const release = reservations.reserve(action.volume);
        try {
          const { source } = action.volume.spec;
          // Resolve again: observing nodes takes time, and a grant may be withdrawn meanwhile.
          if (source !== undefined && !isFresh) {
            const now = await sources.ask(`${namespace}/${name}`, claim);
            if (now.is !== 'ready' || !isDeepStrictEqual(now.source, source)) return now;
          }
          volumes.recordWrite(await client.create(VOLUMES, action.volume));
        } finally {
          release();
        }
        deps.logger.info(
          {
            claim: `${namespace}/${name}`,
            volume: action.volume.metadata.name,
            node: action.volume.spec.nodeName,
          },
          'created volume for claim',
        );
        begun.set(`${namespace}/${name}`, {
          ...{ uid, at: deps.clock.now() },
          end: kindOf(claim),
        });
        return undefined;
      }
      case 'expand': {
        const { volume, size } = action;
        const { field } = driverOfSpec(volume.spec);
        const patch = { metadata: { uid: volume.metadata.uid }, spec: { [field]: { size } } };
        const grown = { ...volume.spec, [field]: { ...(volume.spec[field] as object), size } };
        const release = reservations.reserve({ ...volume, spec: grown });
        try {
          volumes.recordWrite(await client.patch(VOLUMES, volume.metadata.name, patch));
        } finally {
          release();
        }
        return undefined;
      }
      case 'set-claim-status': {
        const patch = { metadata: { uid }, status: action.status };
        claims.recordWrite(
          await client.patch(PERSISTENT_VOLUME_CLAIMS, name, patch, {
            namespace,
            subresource: 'status',
          }),
        );
        return undefined;
      }
    }
  }

  return { reconcile, waitingFor: sources.waitingFor, waitsForSource: sources.waits };
}

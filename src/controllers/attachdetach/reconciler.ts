import type { KubeNode, PersistentVolume, Pod, StorageClass } from '../../api/core.ts';
import type { Logger } from '../../api/logger.ts';
import type { Volume } from '../../api/volume.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { Informer } from '../../kube/informer.ts';
import type { KubeClient } from '../../kube/types.ts';
import { incarnationOf } from '../../model/node-incarnation.ts';
import { pausedObject } from '../../model/pause.ts';
import { RETRY } from '../../model/retry.ts';
import type { Clock } from '../../workqueue/clock.ts';
import type { Operations } from '../../workqueue/pending-operations.ts';
import { change } from './actual-state.ts';
import type { Attacher } from './attacher-detacher.ts';
import { managedOf, wantedOf } from './desired-state.ts';
import { createForceDetach } from './force-detach-actions.ts';
import { markUncertain, onDeviceMissing } from './mark-uncertain.ts';
import { nextOperation } from './next-operation.ts';
import { nodeFactsOf } from './node-facts.ts';
import { createOperationExecutor, SHOW_AFTER } from './operation-executor.ts';
import { operatorDetachRequests } from './operator-detach-requests.ts';
import { createPeriodicVerification } from './periodic-verification.ts';
import { createPodConditionWriter } from './pod-condition-writer.ts';
import { createPodVolumeIndex } from './pod-volume-index.ts';
import { restoreState } from './restore-state.ts';
import { createStatusUpdater } from './status-updater.ts';
import type {
  AttachmentOperationKind,
  ForcedReason,
  Managed,
  NodeFacts,
  ReconcileInput,
} from './types.ts';
import type { VolumeConsumers } from './volume-consumers.ts';
import { failureOf, forgetFailures, type VolumeState } from './volume-state.ts';

export interface AttachmentDeps {
  client: KubeClient;
  volumes: Informer<Volume>;
  persistentVolumes: Informer<PersistentVolume>;
  storageClasses: Informer<StorageClass>;
  nodes: Informer<KubeNode>;
  pods: Informer<Pod>;
  uses: VolumeConsumers;
  attacher: Attacher;
  operations: Operations<AttachmentOperationKind>;
  events: EventRecorder;
  clock: Clock;
  /** Returns a number in [0, 1). */
  random: () => number;
  logger: Logger;
  /**
   * Reports whether this process manages the node. A Volume is ignored unless all of its nodes are
   * managed.
   */
  managesNode(node: string): boolean;
  /**
   * Returns why the Volume's object cannot be trusted for actions on a node; undefined if it can.
   * Pure.
   */
  statusProblem(volume: Volume): string | undefined;
  /** Returns since when a node is NotReady, by `now` of the clock; undefined if it is Ready. */
  notReadySince(node: KubeNode): number | undefined;
  /** Wait time in ms; Infinity: never. */
  maxWaitForUnmountMs: number;
  /** Interval (ms) at which each node is verified; undefined: only on demand. */
  pollIntervalMs: number | undefined;
  /** Requeues the Volume of that name, now or after a delay in ms. */
  enqueue(name: string, afterMs?: number): void;
  onForced?: ((reason: ForcedReason) => void) | undefined;
}

export interface AttachmentReconciler {
  /** Reconciles one Volume. Throws API errors. */
  reconcile(name: string): Promise<{ requeueAfterMs?: number; retry?: true } | undefined>;
  /** Returns the known state of all Volumes, for metrics. */
  known(): Iterable<VolumeState>;
  /**
   * Returns the names of the Volumes that list the pod with that UID, even if its claims are
   * deleted.
   */
  namesOf(podUid: string): string[];
  /** Returns the name of the Volume with that UID, even if it is deleted. */
  nameOf(uid: string): string | undefined;
  /**
   * Reports whether the Volume's device is being attached or detached on the node, or the status
   * does not show the result yet.
   */
  isMoving(volume: Volume, node: string): boolean;
}

/**
 * Delay (ms) before a queued verification is shown. Most verifications confirm the written state.
 * After a start with hundreds in the queue, each would be written as Uncertain and back.
 */
const SHOW_UNPLACED_AFTER = 60_000;
/**
 * Delay (ms), instead of SHOW_AFTER, for an operation that failed before: its status already shows
 * the reason.
 */
const SHOW_RETRY_AFTER = 15_000;
/**
 * Time (ms) after which an operation counts as hung, and the Volume controller no longer waits for
 * it.
 */
const HUNG_AFTER = 60_000;
/**
 * Maximum resync period (ms), to recover from missed events. A no-op resync issues no API write and
 * no node request.
 */
const RESYNC_AFTER = 10 * 60_000;

/** Creates the reconciler that carries out, records and reports what `nextOperation` decides. */
export function createAttachmentReconciler(deps: AttachmentDeps): AttachmentReconciler {
  const { volumes, persistentVolumes, storageClasses, nodes, uses, clock } = deps;
  const all = new Map<string, VolumeState>();
  /**
   * UIDs by name: a deleted Volume may still be attached when another one with its name appears.
   */
  const named = new Map<string, Set<string>>();
  const verifications = createPeriodicVerification(deps.pollIntervalMs);
  const podVolumes = createPodVolumeIndex();
  const statusUpdater = createStatusUpdater(deps);
  const work = createOperationExecutor({ ...deps, statusUpdater });
  const force = createForceDetach({ ...deps, factsOf });
  const conditions = createPodConditionWriter({ ...deps, knownOf: (uid) => all.get(uid) });

  async function reconcile(name: string) {
    const volume = volumes.get(name);
    const { uid = '' } = volume?.metadata ?? {};
    if (volume !== undefined && !all.has(uid)) {
      if (!managesVolume(volume)) return undefined;
      const pv = persistentVolumes.get(name);
      all.set(uid, restoreState(volume, pv, uses.of(volume), clock.timeOfDay(), deps.logger));
      named.set(name, (named.get(name) ?? new Set()).add(uid));
    }
    let wait = Number.POSITIVE_INFINITY;
    for (const each of [...(named.get(name) ?? [])]) {
      const known = all.get(each) as VolumeState;
      wait = Math.min(wait, await reconcileOne(known, each === uid ? volume : undefined));
    }
    // Spread the resyncs: after a start, all Volumes are reconciled together.
    const resync = (RESYNC_AFTER * (1 + deps.random())) / 2;
    return named.has(name) ? { requeueAfterMs: Math.min(wait, resync) } : undefined;
  }

  const managesVolume = (volume: Volume) => {
    const { spec, status } = volume;
    const made = deps.statusProblem(volume) === undefined ? status?.prepared?.node : undefined;
    return (spec.attachableNodes ?? [made ?? spec.nodeName]).every(deps.managesNode);
  };

  /** @returns delay in ms until the next reconcile; Infinity: none without a change */
  async function reconcileOne(known: VolumeState, volume: Volume | undefined): Promise<number> {
    for (let round = 0; round < RETRY.maxConflicts; round++) {
      const current = round === 0 ? volume : volume && volumes.get(known.name);
      const again = await once(known, current?.metadata.uid === known.uid ? current : undefined);
      if (again !== 'stale') return again;
    }
    return SHOW_AFTER;
  }

  async function once(known: VolumeState, volume: Volume | undefined): Promise<number | 'stale'> {
    const now = clock.now();
    const problem = deps.statusProblem(volume ?? known.volume);
    const trusted = problem === undefined ? volume : undefined;
    // A Volume that was never trusted was never acted on: its entries mean nothing.
    if (volume === undefined && problem !== undefined) known.entries = [];
    // Queued operations, and detaches after the object is gone, use the last trusted version.
    if (trusted !== undefined) known.volume = trusted;
    const managed = volume && managing(volume);
    // An untrusted status may name any node.
    if (problem === undefined)
      markUncertain(known, managed, (node) => incarnationOf(nodes.get(node)), clock.timeOfDay());
    if (trusted !== undefined && managed !== undefined) {
      onDeviceMissing(known, trusted, clock.timeOfDay());
      const ordered = operatorDetachRequests(known, trusted, managed, (node) =>
        factsOf(node, trusted),
      );
      if (ordered.length > 0) {
        const { entries } = known;
        if (!(await force.areStillGone(known, ordered)) || known.entries !== entries)
          return 'stale';
        force.detachOrdered(known, ordered);
        for (const node of ordered) work.cancel(known, node);
      }
    }
    const nextVerification = verifications.markDue(known, trusted && managed, now);
    const needed = volume === undefined ? [] : uses.of(volume);
    const view: ReconcileInput = {
      volume: managed,
      problem,
      wanted:
        managed === undefined
          ? []
          : wantedOf(
              managed,
              needed.map(({ use }) => use),
            ),
      entries: known.entries,
      isPodActive: uses.isPodActive,
      unverifiedNodes: known.unverifiedNodes,
      running: work.of(known.uid)?.operation,
      notBefore: (kind, node) => failureOf(known, kind, node)?.until ?? 0,
      nodeFacts: (node) => factsOf(node, known.volume),
    };
    const next = nextOperation(view, now);
    if (next.forced.length > 0) {
      const areGone = await force.areStillGone(
        known,
        next.forced.map(({ node }) => node),
      );
      // An operation may have ended meanwhile: do not overwrite its outcome.
      if (!areGone || known.entries !== view.entries) return 'stale';
    }
    for (const { node, message } of next.entries) {
      // The device is needed again: the next detach starts without backoff.
      const oldMessage = view.entries.find((entry) => entry.node === node)?.message;
      if (oldMessage !== undefined && message === undefined)
        forgetFailures(known, node, ['detach']);
    }
    known.entries = next.entries;
    podVolumes.note(known, next.entries);
    known.wanted = view.wanted.length;
    known.blocked = new Map(next.blocked.map((each) => [each.node, each.message]));
    for (const each of next.forced) force.report(known, each);
    // The decision assumed that the canceled operation was running.
    if (next.forced.filter(({ node }) => work.cancel(known, node)).length > 0) return 'stale';
    let wait = Math.max(
      0,
      Math.min(next.again ?? Number.POSITIVE_INFINITY, nextVerification) - now,
    );
    const { start } = next;
    const shownFrom = shownFromOf(known);
    const was = start && known.entries.find(({ node }) => node === start.node);
    if (start !== undefined) {
      if (start.kind !== 'verify') {
        const state = start.kind === 'attach' ? 'Attaching' : 'Detaching';
        const to = { state, readOnly: start.readOnly, message: undefined } as const;
        known.entries = change(known.entries, start.node, to, clock.timeOfDay());
      }
      if (!work.start(known, start, was, now)) {
        known.entries = next.entries;
        return 'stale';
      }
      wait = Math.min(wait, shownFromOf(known) - now);
    } else if (now < shownFrom) {
      // Most operations end sooner: only their outcome is written then.
      wait = Math.min(wait, shownFrom - now);
    } else {
      wait = Math.min(wait, work.reportQueued(known, now));
      try {
        if (!(await statusUpdater.write(known, volume, work.notBegunOn(known)))) return 'stale';
        // Events first, since emitting them cannot fail.
        statusUpdater.emitEvents(known, next, needed, now);
        await conditions.write(needed.map(({ pod }) => pod));
      } catch (error) {
        // The retry of the failed write may come later than the next due time.
        if (Number.isFinite(wait)) deps.enqueue(known.name, wait);
        throw error;
      }
    }
    if (volume === undefined && known.entries.length === 0 && work.of(known.uid) === undefined)
      forget(known);
    return wait;
  }

  /** Returns the time at which the running operation is shown, by `now` of the clock. */
  function shownFromOf(known: VolumeState): number {
    const running = work.of(known.uid);
    if (running === undefined) return Number.NEGATIVE_INFINITY;
    const { operation, since, placed } = running;
    const { kind, node } = operation;
    if (kind === 'verify')
      return placed === undefined ? since + SHOW_UNPLACED_AFTER : placed + SHOW_AFTER;
    return since + (failureOf(known, kind, node) === undefined ? SHOW_AFTER : SHOW_RETRY_AFTER);
  }

  function forget({ uid, name }: VolumeState): void {
    all.delete(uid);
    verifications.forget(uid);
    const others = named.get(name);
    others?.delete(uid);
    if (others?.size === 0) named.delete(name);
  }

  function managing(volume: Volume): Managed {
    const storageClass = storageClasses.get(volume.spec.storageClassName);
    return managedOf(volume, { storageClass, maxWaitForUnmountMs: deps.maxWaitForUnmountMs });
  }

  function factsOf(node: string, volume: Volume): NodeFacts {
    return nodeFactsOf(nodes.get(node), pausedObject('Volume', volume), deps.notReadySince);
  }

  function isMoving({ metadata: { uid = '' }, status }: Volume, node: string): boolean {
    const known = all.get(uid);
    if (known === undefined) return false;
    const running = work.of(uid);
    const { kind, node: on } = running?.operation ?? {};
    if (running?.placed !== undefined && on === node && kind !== 'verify') {
      return clock.now() - running.placed < HUNG_AFTER;
    }
    const isOn = (list: readonly { node: string }[]) => list.some((each) => each.node === node);
    return isOn(known.entries) !== isOn(status?.attachments ?? []);
  }

  return {
    ...{ reconcile, isMoving, known: () => all.values(), namesOf: podVolumes.of },
    nameOf: (uid) => all.get(uid)?.name,
  };
}

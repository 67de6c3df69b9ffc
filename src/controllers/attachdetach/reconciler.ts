import type { KubeNode, PersistentVolume, Pod, StorageClass } from '../../api/core.ts';
import type { Logger } from '../../api/logger.ts';
import { isPaused } from '../../api/paused.ts';
import type { Volume } from '../../api/volume.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { Informer } from '../../kube/informer.ts';
import type { KubeClient } from '../../kube/types.ts';
import { incarnationOf } from '../../model/node-incarnation.ts';
import { RETRY } from '../../model/retry.ts';
import type { Clock } from '../../workqueue/clock.ts';
import type { Operations } from '../../workqueue/pending-operations.ts';
import { change } from './actual-state.ts';
import type { Attacher } from './attacher-detacher.ts';
import { managedOf, wantedOf } from './desired-state.ts';
import { createForceDetach } from './force-detach-actions.ts';
import { markUncertain, onDeviceMissing, operatorDetachRequests } from './mark-uncertain.ts';
import { nextOperation as decide } from './next-operation.ts';
import { nodeFactsOf } from './node-facts.ts';
import { createOperationExecutor, SHOW_AFTER } from './operation-executor.ts';
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
  /** In [0, 1). */
  random: () => number;
  logger: Logger;
  /** Whether this process has hands on that node. A Volume is left alone unless it has them on all of its nodes. */
  managesNode(node: string): boolean;
  /** Why nothing may be done on a node by what the Volume's object says; undefined: it may. Pure. */
  statusProblem(volume: Volume): string | undefined;
  /** In ms; Infinity: never. */
  maxWaitForUnmountMs: number;
  /** How often each node is looked at for what it has, in ms; undefined: when there is a reason to. */
  pollIntervalMs: number | undefined;
  /** Decide again about the Volume of that name, now or in so many ms. */
  enqueue(name: string, afterMs?: number): void;
  onForced?: ((reason: ForcedReason) => void) | undefined;
}

export interface AttachmentReconciler {
  /** Brings one Volume closer to where it is wanted. Throws what the API server refuses. */
  reconcile(name: string): Promise<{ requeueAfterMs?: number; retry?: true } | undefined>;
  /** All that is known, for metrics. */
  known(): Iterable<VolumeState>;
  /** Of the Volumes that the pod of that UID is known to have, whatever became of its claims. */
  namesOf(podUid: string): string[];
  /** Of the Volume of that UID, also when it is gone. */
  nameOf(uid: string): string | undefined;
  /** Whether the Volume's device is coming or going there, or the status does not tell yet on which side it is. */
  isMoving(volume: Volume, node: string): boolean;
}

/**
 * In ms. A look that waits longer for its place is shown. Until then what was written down stands, which most looks only bear
 * out: where hundreds wait behind each other, after a start, each would else be written as Uncertain and back.
 */
const SHOW_UNPLACED_AFTER = 60_000;
/** In ms, instead of SHOW_AFTER, for what failed before, and may be tried often: what it waits for is shown already, and is so still. */
const SHOW_RETRY_AFTER = 15_000;
/** In ms. An operation that takes longer hangs: whoever looks after the Volume is not to wait for it. */
const MOVES_FOR = 60_000;
/** In ms. Whatever woke nobody is put right by then; where nothing is to be done, it costs no write and no word to a node. */
const REPAIR_AFTER = 10 * 60_000;

/** The controller's effects: what `decide` says is carried out, written down and told. */
export function createAttachmentReconciler(deps: AttachmentDeps): AttachmentReconciler {
  const { volumes, persistentVolumes, storageClasses, nodes, uses, clock } = deps;
  const all = new Map<string, VolumeState>();
  /** UIDs: one that is gone may still be attached when another one of its name comes. */
  const named = new Map<string, Set<string>>();
  const verifications = createPeriodicVerification(deps.pollIntervalMs);
  const podNames = createPodVolumeIndex();
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
      all.set(uid, restoreState(volume, pv, uses.of(volume), clock.now(), deps.logger));
      named.set(name, (named.get(name) ?? new Set()).add(uid));
    }
    let wait = Number.POSITIVE_INFINITY;
    for (const each of [...(named.get(name) ?? [])]) {
      const known = all.get(each) as VolumeState;
      wait = Math.min(wait, await reconcileOne(known, each === uid ? volume : undefined));
    }
    // Not all at once: a start takes them all up together.
    const repair = (REPAIR_AFTER * (1 + deps.random())) / 2;
    return named.has(name) ? { requeueAfterMs: Math.min(wait, repair) } : undefined;
  }

  const managesVolume = (volume: Volume) => {
    const { spec, status } = volume;
    const made = deps.statusProblem(volume) === undefined ? status?.prepared?.node : undefined;
    return (spec.attachableNodes ?? [made ?? spec.nodeName]).every(deps.managesNode);
  };

  /** @returns in how many ms to decide again if nothing changes before; Infinity: not by itself */
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
    // What nobody ever trusted was never acted on, and says nothing of any node.
    if (volume === undefined && problem !== undefined) known.entries = [];
    // What waits for its place, or is let go of when the object is gone, goes by what could be trusted last.
    if (trusted !== undefined) known.volume = trusted;
    const managed = volume && managing(volume);
    // It may name any node.
    if (problem === undefined)
      markUncertain(known, managed, (node) => incarnationOf(nodes.get(node)), now);
    if (trusted !== undefined && managed !== undefined) {
      onDeviceMissing(known, trusted, now);
      const ordered = operatorDetachRequests(known, trusted, managed, (node) =>
        factsOf(node, trusted),
      );
      if (ordered.length > 0) {
        const { entries } = known;
        if (!(await force.areStillGone(known, ordered)) || known.entries !== entries)
          return 'stale';
        force.detachOrdered(known, ordered);
        for (const node of ordered) work.giveUp(known, node);
      }
    }
    const polledAgain = verifications.poll(known, trusted && managed, now);
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
    const next = decide(view, now);
    if (next.forced.length > 0) {
      const areGone = await force.areStillGone(
        known,
        next.forced.map(({ node }) => node),
      );
      // An operation may have ended meanwhile: what it found is not to be lost.
      if (!areGone || known.entries !== view.entries) return 'stale';
    }
    for (const { node, message } of next.entries) {
      // What could not be detached is needed again: when it is to be detached the next time, that is tried at once.
      const said = view.entries.find((entry) => entry.node === node)?.message;
      if (said !== undefined && message === undefined) forgetFailures(known, node, ['detach']);
    }
    known.entries = next.entries;
    podNames.note(known, next.entries);
    known.wanted = view.wanted.length;
    known.blocked = new Map(next.blocked.map((each) => [each.node, each.message]));
    for (const each of next.forced) force.tell(known, each);
    // What was decided, was so while that was under way.
    if (next.forced.filter(({ node }) => work.giveUp(known, node)).length > 0) return 'stale';
    let wait = Math.max(0, Math.min(next.again ?? Number.POSITIVE_INFINITY, polledAgain) - now);
    const { start } = next;
    const shownFrom = shownFromOf(known);
    const was = start && known.entries.find(({ node }) => node === start.node);
    if (start !== undefined) {
      if (start.kind !== 'verify') {
        const state = start.kind === 'attach' ? 'Attaching' : 'Detaching';
        const to = { state, readOnly: start.readOnly, message: undefined } as const;
        known.entries = change(known.entries, start.node, to, now);
      }
      if (!work.start(known, start, was, now)) {
        known.entries = next.entries;
        return 'stale';
      }
      wait = Math.min(wait, shownFromOf(known) - now);
    } else if (now < shownFrom) {
      // Most end sooner, and what is written then is all that there is to tell.
      wait = Math.min(wait, shownFrom - now);
    } else {
      wait = Math.min(wait, work.tellOfWait(known, now));
      try {
        if (!(await statusUpdater.write(known, volume, work.notBegunOn(known)))) return 'stale';
        // First, for this cannot be refused.
        statusUpdater.tell(known, next, needed, now);
        await conditions.write(needed.map(({ pod }) => pod));
      } catch (error) {
        // Whoever tries that again may wait for longer than what is due here does.
        if (Number.isFinite(wait)) deps.enqueue(known.name, wait);
        throw error;
      }
    }
    if (volume === undefined && known.entries.length === 0 && work.of(known.uid) === undefined)
      forget(known);
    return wait;
  }

  /** ms since the epoch */
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
    return nodeFactsOf(
      nodes.get(node),
      isPaused(volume) ? `Volume ${volume.metadata.name}` : undefined,
    );
  }

  function isMoving({ metadata: { uid = '' }, status }: Volume, node: string): boolean {
    const known = all.get(uid);
    if (known === undefined) return false;
    const running = work.of(uid);
    const { kind, node: on } = running?.operation ?? {};
    if (running?.placed !== undefined && on === node && kind !== 'verify') {
      return clock.now() - running.placed < MOVES_FOR;
    }
    const isOn = (list: readonly { node: string }[]) => list.some((each) => each.node === node);
    return isOn(known.entries) !== isOn(status?.attachments ?? []);
  }

  return {
    ...{ reconcile, isMoving, known: () => all.values(), namesOf: podNames.of },
    nameOf: (uid) => all.get(uid)?.name,
  };
}

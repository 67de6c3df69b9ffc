import { isDeepStrictEqual } from 'node:util';
import type { KubeNode, PersistentVolume, Pod } from '../../api/core.ts';
import {
  ATTACHED_NODES_ANNOTATION,
  EVENT,
  READY_REASON,
  VOLUMES_ATTACHED_CONDITION,
} from '../../api/names.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import { NODES, PERSISTENT_VOLUMES, VOLUMES } from '../../api/resources.ts';
import type { Attachment, Volume, VolumeStatus } from '../../api/volume.ts';
import { ignoreNotFound, isConflict, isNotFound } from '../../kube/errors.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { Informer } from '../../kube/informer.ts';
import type { KubeClient } from '../../kube/types.ts';
import { pausedObject, resumable } from '../../model/pause.ts';
import { isPvOf } from '../../model/persistent-volume.ts';
import { RETRY } from '../../model/retry.ts';
import { EMIT_AGAIN_AFTER } from '../../workqueue/emit-again.ts';
import { withoutNode } from './actual-state.ts';
import { attachmentsOf, recordToWrite } from './attached-nodes-annotation.ts';
import { isOnSeveral } from './desired-state.ts';
import type { AttachmentOperation, NodeAttachment, PodUse, ReconcileDecision } from './types.ts';
import { failureOf, gistOf, type VolumeState } from './volume-state.ts';

export interface StatusUpdaterDeps {
  client: KubeClient;
  volumes: Informer<Volume>;
  persistentVolumes: Informer<PersistentVolume>;
  events: EventRecorder;
}

/** Writer of a Volume's attachments to the API server, with the live checks before an operation. */
export interface StatusUpdater {
  /**
   * Writes the status and the PersistentVolume where they differ from the known state. Returns
   * false after a conflict: the caches are then up to date, and the caller decides again.
   * @param without a node that is not recorded yet
   */
  write(known: VolumeState, volume: Volume | undefined, without?: string): Promise<boolean>;
  /**
   * Records the attach right before its job, for a Volume on several nodes. Recorded later, other
   * nodes would not respect it. Recorded earlier, other nodes would wait for an attach that never
   * began.
   * @returns why the attach could not be recorded
   */
  beforeAttach(known: VolumeState): Promise<Explanation | undefined>;
  /**
   * Emits events: an attached volume once for each pod, a failure about once an hour for each node.
   * `now` is by a clock that never steps.
   */
  emitEvents(
    known: VolumeState,
    next: ReconcileDecision,
    needed: readonly { pod: Pod; use: PodUse }[],
    now: number,
  ): void;
  /**
   * Returns why an operation may not begin, read from the API server, since the cache may be stale.
   */
  precheck(known: VolumeState, operation: AttachmentOperation): Promise<Explanation | undefined>;
}

export function createStatusUpdater({
  client,
  volumes,
  persistentVolumes,
  events,
}: StatusUpdaterDeps): StatusUpdater {
  return { write, beforeAttach, emitEvents, precheck };

  async function write(
    known: VolumeState,
    volume: Volume | undefined,
    without?: string,
  ): Promise<boolean> {
    const entries = without === undefined ? known.entries : withoutNode(known.entries, without);
    if (volume !== undefined && !(await writeStatus(known, volume, entries))) return false;
    await writePersistentVolume(known, entries);
    return true;
  }

  async function beforeAttach(known: VolumeState): Promise<Explanation | undefined> {
    if (!isOnSeveral(known.volume)) return undefined;
    try {
      for (let round = 0; round < RETRY.maxConflicts; round++) {
        const volume = volumes.get(known.name);
        if (volume?.metadata.uid !== known.uid)
          return explain('VolumeGone', { volume: known.name });
        if (await write(known, volume)) return undefined;
      }
    } catch (error) {
      return explain('AttachNotRecorded', { error: (error as Error).message });
    }
    return explain('AttachRecordContended');
  }

  async function writeStatus(
    known: VolumeState,
    { metadata, spec, status }: Volume,
    entries: readonly NodeAttachment[],
  ): Promise<boolean> {
    const { name, uid, resourceVersion } = metadata;
    const attachments = sinceShown(attachmentsOf(entries), status);
    const nodes = new Set(attachments.map(({ node }) => node));
    const isOnDemand = spec.attachPolicy === 'OnDemand';
    // Not compared as text: API servers reorder the keys of custom resources.
    if (isDeepStrictEqual(status?.attachments ?? [], attachments)) {
      known.written = nodes;
      return true;
    }
    const patch = {
      metadata: { uid, resourceVersion },
      status: { attachments, ...(isOnDemand && { deviceName: deviceIn(attachments) ?? null }) },
    };
    try {
      volumes.recordWrite(
        await client.patch<Volume>(VOLUMES, name, patch, { subresource: 'status' }),
      );
      known.written = nodes;
      return true;
    } catch (error) {
      if (isNotFound(error)) return true;
      if (!isConflict(error)) throw error;
      const live = await ignoreNotFound(client.get<Volume>(VOLUMES, name));
      if (live !== undefined) volumes.recordWrite(live);
      return false;
    }
  }

  /**
   * Writes the record. A PersistentVolume deleted before the detach takes its record with it; the
   * state in memory remains.
   */
  async function writePersistentVolume(
    { name, volume }: VolumeState,
    entries: readonly NodeAttachment[],
  ): Promise<void> {
    const pv = persistentVolumes.get(name);
    if (pv === undefined || !isPvOf(pv, volume)) return;
    const record = recordToWrite(pv.metadata.annotations?.[ATTACHED_NODES_ANNOTATION], entries);
    if (record === undefined) return;
    const patch = {
      metadata: { uid: pv.metadata.uid, annotations: { [ATTACHED_NODES_ANNOTATION]: record } },
    };
    const answer = await ignoreNotFound(
      client.patch<PersistentVolume>(PERSISTENT_VOLUMES, name, patch),
    );
    if (answer !== undefined) persistentVolumes.recordWrite(answer);
  }

  function emitEvents(
    known: VolumeState,
    next: ReconcileDecision,
    needed: readonly { pod: Pod; use: PodUse }[],
    now: number,
  ): void {
    const keep = new Set<string>();
    const once = (key: string, gist: string, until: number, emit: () => void) => {
      keep.add(key);
      const before = known.emittedEvents.get(key);
      if (before?.gist === gist && now < before.until) return;
      known.emittedEvents.set(key, { gist, until });
      emit();
    };
    for (const { pod, use } of needed) {
      const entry = known.entries.find(({ node }) => node === use.node);
      if (entry?.state === 'Attached' && entry.safeToMount) {
        const message = attachedMessage(known.name, use);
        once(`pod ${use.uid}`, message, Infinity, () =>
          events.event(pod, 'Normal', EVENT.successfulAttachVolume, message),
        );
        continue;
      }
      // Uncertain: the event emitted before may still hold.
      if (entry?.state === 'Uncertain') keep.add(`pod ${use.uid}`);
      // A single event per node, however many pods wait there.
      const blocked = next.blocked.find(({ node }) => node === use.node);
      const why = blocked ?? failureOf(known, 'attach', use.node);
      if (why !== undefined && !keep.has(`node ${use.node}`)) {
        const gist = [why, blocked?.inner ?? {}].map(gistOf).join('; ');
        once(`node ${use.node}`, gist, now + EMIT_AGAIN_AFTER, () =>
          events.event(pod, 'Warning', EVENT.failedAttachVolume, why.message, why.detail),
        );
      }
    }
    for (const key of known.emittedEvents.keys())
      if (!keep.has(key)) known.emittedEvents.delete(key);
  }

  async function precheck(
    known: VolumeState,
    { kind, node }: AttachmentOperation,
  ): Promise<Explanation | undefined> {
    const [volume, kubeNode] = await Promise.all([
      ignoreNotFound(client.get<Volume>(VOLUMES, known.name)),
      ignoreNotFound(client.get<KubeNode>(NODES, node)),
    ]);
    const isSame = volume?.metadata.uid === known.uid;
    if (kind === 'attach' && !isSame) return explain('VolumeGone', { volume: known.name });
    if (kind === 'attach' && volume?.metadata.deletionTimestamp !== undefined)
      return explain('VolumeBeingDeleted', { volume: known.name });
    const paused =
      (isSame ? pausedObject('Volume', volume) : undefined) ?? pausedObject('Node', kubeNode);
    return paused && explain('OperationPaused', { ...paused, resume: resumable(paused) });
  }
}

/**
 * Keeps the `since` in the status while the state is the same: a restart or a second daemon with
 * its own time causes no write. If the device was reported missing after that time, the new `since`
 * is written: the Volume controller detects the new attachment only by its time.
 */
function sinceShown(
  attachments: readonly Attachment[],
  status: VolumeStatus | undefined,
): Attachment[] {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const missed =
    ready?.reason === READY_REASON.attaching
      ? Date.parse(ready.lastUpdateTime ?? '')
      : Number.NEGATIVE_INFINITY;
  return attachments.map((each) => {
    const { since = '' } =
      status?.attachments?.find(({ node, state }) => node === each.node && state === each.state) ??
      {};
    const at = Date.parse(since);
    return at < Date.parse(each.since) && at > missed ? { ...each, since } : each;
  });
}

/** Returns the device for the status: that of the first Attached entry, else of the first entry. */
const deviceIn = (attachments: readonly Attachment[]): string | undefined =>
  (attachments.find(({ state }) => state === 'Attached') ?? attachments[0])?.device;

const attachedMessage = (volume: string, { node }: PodUse): string =>
  `Volume "${volume}" is attached to node ${node}`;

/**
 * Returns the events that an earlier process emitted for the pods, which are those with the
 * condition.
 */
export const emittedBefore = (volume: string, needed: readonly { pod: Pod; use: PodUse }[]) =>
  new Map(
    needed
      .filter(({ pod }) =>
        pod.status?.conditions?.some(
          ({ type, status }) => type === VOLUMES_ATTACHED_CONDITION && status === 'True',
        ),
      )
      .map(
        ({ use }) =>
          [`pod ${use.uid}`, { gist: attachedMessage(volume, use), until: Infinity }] as const,
      ),
  );

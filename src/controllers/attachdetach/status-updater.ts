import { isDeepStrictEqual } from 'node:util';
import type { KubeNode, PersistentVolume, Pod } from '../../api/core.ts';
import {
  ATTACHED_NODES_ANNOTATION,
  EVENT,
  READY_REASON,
  VOLUMES_ATTACHED_CONDITION,
} from '../../api/names.ts';
import { isPaused } from '../../api/paused.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import { NODES, PERSISTENT_VOLUMES, VOLUMES } from '../../api/resources.ts';
import type { Attachment, Volume, VolumeStatus } from '../../api/volume.ts';
import { ignoreNotFound, isConflict, isNotFound } from '../../kube/errors.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { Informer } from '../../kube/informer.ts';
import type { KubeClient } from '../../kube/types.ts';
import { isPvOf } from '../../model/persistent-volume.ts';
import { RETRY } from '../../model/retry.ts';
import { TELL_AGAIN } from '../../workqueue/tell-again.ts';
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

/** What is written of a Volume's attachments, and asked, at the API server. */
export interface StatusUpdater {
  /**
   * Writes the status and the PersistentVolume where they differ from what is known. False when someone else wrote first:
   * the caches are up to date then, and everything is to be decided again.
   * @param without a node of which nothing is written yet
   */
  write(known: VolumeState, volume: Volume | undefined, without?: string): Promise<boolean>;
  /**
   * Where it can be on another node as well, the record comes first, right before the job: what no one knows of, no one is careful
   * of; and what was recorded and never begun, all others would wait for.
   * @returns why it could not be written
   */
  beforeAttach(known: VolumeState): Promise<Explanation | undefined>;
  /**
   * Events: an attached volume for each pod, once; what holds one up for each node, once an hour. `now` in ms since the
   * epoch.
   */
  tell(
    known: VolumeState,
    next: ReconcileDecision,
    needed: readonly { pod: Pod; use: PodUse }[],
    now: number,
  ): void;
  /** Why an operation may not be begun, as the API server has it now: a cache may be behind. */
  precheck(known: VolumeState, operation: AttachmentOperation): Promise<Explanation | undefined>;
}

export function createStatusUpdater({
  client,
  volumes,
  persistentVolumes,
  events,
}: StatusUpdaterDeps): StatusUpdater {
  return { write, beforeAttach, tell, precheck };

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
    // Not as text: API servers put the keys of custom resources in an order of their own.
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

  /** One that was deleted before it was detached takes the record with it; what is in memory goes on. */
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

  function tell(
    known: VolumeState,
    next: ReconcileDecision,
    needed: readonly { pod: Pod; use: PodUse }[],
    now: number,
  ): void {
    const keep = new Set<string>();
    const once = (key: string, gist: string, until: number, say: () => void) => {
      keep.add(key);
      const before = known.emittedEvents.get(key);
      if (before?.gist === gist && now < before.until) return;
      known.emittedEvents.set(key, { gist, until });
      say();
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
      // Not known to be otherwise than was told.
      if (entry?.state === 'Uncertain') keep.add(`pod ${use.uid}`);
      // One for each node, however many pods wait there.
      const blocked = next.blocked.find(({ node }) => node === use.node);
      const why = blocked ?? failureOf(known, 'attach', use.node);
      if (why !== undefined && !keep.has(`node ${use.node}`)) {
        const gist = [why, blocked?.inner ?? {}].map(gistOf).join('; ');
        once(`node ${use.node}`, gist, now + TELL_AGAIN, () =>
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
    if (isSame && isPaused(volume))
      return explain('OperationPaused', { kind: 'Volume', name: known.name });
    return isPaused(kubeNode)
      ? explain('OperationPaused', { kind: 'Node', name: node })
      : undefined;
  }
}

/**
 * What is shown in the same state already has been in it since then, whoever saw that: neither a start of ours nor a second
 * daemon, which would both write their own time in turn, is a reason to write. But what was missed after that came anew, and who
 * waits for it hears of that by the time alone.
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

/** The device that the status of the Volume shows: that of the node which the Volume is worked on. */
const deviceIn = (attachments: readonly Attachment[]): string | undefined =>
  (attachments.find(({ state }) => state === 'Attached') ?? attachments[0])?.device;

const attachedMessage = (volume: string, { node }: PodUse): string =>
  `Volume "${volume}" is attached to node ${node}`;

/** What pods were told of a Volume by whoever ran before: those with the condition. */
export const toldBefore = (volume: string, needed: readonly { pod: Pod; use: PodUse }[]) =>
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

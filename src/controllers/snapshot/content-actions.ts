import type { KubeNode } from '../../api/core.ts';
import { SNAPSHOT_FINALIZERS } from '../../api/names.ts';
import { isPaused } from '../../api/paused.ts';
import type { Reason } from '../../api/reasons.ts';
import { NODES, VOLUME_SNAPSHOT_CONTENTS, VOLUME_SNAPSHOTS, VOLUMES } from '../../api/resources.ts';
import type { SnapshotError, VolumeSnapshot, VolumeSnapshotContent } from '../../api/snapshot.ts';
import type { Volume } from '../../api/volume.ts';
import { getOrUndefined } from '../../kube/get-or-undefined.ts';
import type { ContentDeps, ContentOperation } from './content-deps.ts';
import { type JobNote, noteMetadata, noteOf } from './job-record.ts';
import { detailAnnotations } from './status.ts';
import type { ContentAction, ContentInput } from './types.ts';

/** Observations of one reconcile that no cache holds. */
export type ContentFindings = Pick<ContentInput, 'liveSnapshot' | 'outcome'>;
export const nothing: ContentFindings = { liveSnapshot: undefined, outcome: undefined };

export interface ContentActionRunner {
  /**
   * Carries out an action and returns the findings after it. A write fails with a conflict if the
   * object has changed since it was cached. Throws errors of the API server; an unreachable node is
   * an outcome, not an error.
   */
  carryOut(
    action: ContentAction,
    content: VolumeSnapshotContent,
    known: ContentFindings,
  ): Promise<ContentFindings>;
  /** Refreshes the cache by a live read. Returns false if the content is gone. */
  refresh(name: string): Promise<boolean>;
}

type ActionRunnerDeps = Omit<ContentDeps, 'restoresOf' | 'placeOf' | 'enqueue'> & {
  volumeOf(content: VolumeSnapshotContent): Volume | undefined;
};

export function createContentActionRunner(deps: ActionRunnerDeps): ContentActionRunner {
  const { client, contents, volumes, nodes, work, events, clock, logger, rooms, naming, volumeOf } =
    deps;
  /** Last message of an `emit-event` action, by content UID: no status records it. */
  const emitted = new Map<string, string>();

  async function write(
    content: VolumeSnapshotContent,
    patch: object,
    metadata = {},
    status = false,
  ): Promise<VolumeSnapshotContent> {
    const { name, uid, resourceVersion } = content.metadata;
    const written = await client.patch<VolumeSnapshotContent>(
      VOLUME_SNAPSHOT_CONTENTS,
      name,
      { ...patch, metadata: { ...metadata, uid, resourceVersion } },
      status ? { subresource: 'status' } : {},
    );
    contents.recordWrite(written);
    return written;
  }

  /**
   * Writes the annotations with an error's reason before the error, so that no error appears
   * without its reason. Returns the content after the write.
   */
  async function explained(
    content: VolumeSnapshotContent,
    error: SnapshotError | null | undefined,
    detail: Reason | undefined,
  ): Promise<VolumeSnapshotContent> {
    const annotations = detailAnnotations(detail, error?.time);
    const has = content.metadata.annotations ?? {};
    const isSame = Object.entries(annotations).every(
      ([name, value]) => (has[name] ?? null) === value,
    );
    return isSame ? content : await write(content, {}, { annotations });
  }

  async function refresh(name: string): Promise<boolean> {
    const live = await getOrUndefined<VolumeSnapshotContent>(
      client,
      VOLUME_SNAPSHOT_CONTENTS,
      name,
    );
    if (live !== undefined) contents.recordWrite(live);
    return live !== undefined;
  }

  /**
   * Reports by live reads whether the objects are as decided on and nothing has been paused since.
   */
  const isCurrent =
    (content: VolumeSnapshotContent, note: JobNote) => async (): Promise<boolean> => {
      const volume = volumeOf(content);
      const [live, liveVolume, node] = await Promise.all([
        // The 404 of a deleted content propagates to the reconciler.
        client.get<VolumeSnapshotContent>(VOLUME_SNAPSHOT_CONTENTS, content.metadata.name),
        volume && getOrUndefined<Volume>(client, VOLUMES, volume.metadata.name),
        getOrUndefined<KubeNode>(client, NODES, note.node),
      ]);
      contents.recordWrite(live);
      if (liveVolume !== undefined) volumes.recordWrite(liveVolume);
      if (node !== undefined) nodes.recordWrite(node);
      return (
        live.metadata.resourceVersion === content.metadata.resourceVersion &&
        liveVolume?.metadata.uid === volume?.metadata.uid &&
        (note.do === 'delete' || liveVolume?.metadata.deletionTimestamp === undefined) &&
        !isPaused(live) &&
        !(note.do === 'take' && isPaused(liveVolume)) &&
        !isPaused(node)
      );
    };

  function count(
    content: VolumeSnapshotContent,
    operation: ContentOperation['operation'],
    since: number,
    succeeded: boolean,
  ): void {
    const snapshotClass = content.spec.volumeSnapshotClassName ?? '';
    deps.onOperation?.({
      operation,
      snapshotClass,
      succeeded,
      ms: Math.max(0, clock.timeOfDay() - since),
    });
  }

  async function carryOut(
    action: ContentAction,
    content: VolumeSnapshotContent,
    known: ContentFindings,
  ): Promise<ContentFindings> {
    const { metadata, spec, status } = content;
    const { uid = '' } = metadata;
    logger.debug({ content: metadata.name, action: action.do }, 'effect');
    switch (action.do) {
      case 'add-finalizer': {
        const finalizers = [...(metadata.finalizers ?? []), SNAPSHOT_FINALIZERS.content];
        await write(content, {}, { finalizers });
        return known;
      }
      case 'release': {
        const finalizers = metadata.finalizers?.filter(
          (each) => each !== SNAPSHOT_FINALIZERS.content,
        );
        await write(content, {}, { finalizers });
        emitted.delete(uid);
        if (known.outcome?.is === 'absent')
          count(content, 'delete', Date.parse(metadata.deletionTimestamp ?? ''), true);
        logger.info(
          { content: metadata.name, uid, policy: spec.deletionPolicy },
          'released snapshot content',
        );
        return known;
      }
      case 'set-status': {
        const { fields, event } = action;
        const annotated =
          'error' in fields ? await explained(content, fields.error, event?.detail) : content;
        await write(annotated, { status: fields }, {}, true);
        logger.info({ content: metadata.name, uid, ...fields }, 'snapshot status');
        if (event) events.event(content, event.type, event.reason, event.message, event.detail);
        // A copy that existed before is not counted as an operation.
        if (
          fields.readyToUse &&
          spec.source.volumeHandle !== undefined &&
          status?.snapshotHandle === undefined
        ) {
          count(content, 'create', Date.parse(metadata.creationTimestamp ?? ''), true);
        }
        return known;
      }
      case 'emit-event': {
        const { type, reason, message, detail } = action.event;
        if (emitted.get(uid) !== message) events.event(content, type, reason, message, detail);
        emitted.set(uid, message);
        return known;
      }
      case 'observe-room':
        await rooms.observe(action.node, action.place);
        return known;
      case 'write-note': {
        const { annotations, labels } = noteMetadata(action.note);
        // Reserve before the first await: no other decision may count on the same room.
        const release = naming.reserve({ ...content, metadata: { ...metadata, annotations } });
        try {
          await write(content, {}, { annotations, labels });
        } finally {
          release();
        }
        if (known.outcome?.is === 'failed') {
          const operation = action.note.do === 'take' ? 'create' : 'delete';
          count(content, operation, noteOf(content)?.at ?? clock.timeOfDay(), false);
        }
        // The known outcome belongs to the previous job.
        return nothing;
      }
      case 'read-snapshot': {
        const { name = '', namespace, uid: wanted } = spec.volumeSnapshotRef;
        const live = await getOrUndefined<VolumeSnapshot>(
          client,
          VOLUME_SNAPSHOTS,
          name,
          namespace,
        );
        return {
          ...known,
          liveSnapshot: { found: live?.metadata.uid === wanted ? live : undefined },
        };
      }
      case 'delete-content':
        await client.delete(VOLUME_SNAPSHOT_CONTENTS, metadata.name, { uid });
        await refresh(metadata.name);
        return known;
      case 'observe':
        return {
          ...known,
          outcome: await work.observe(content, action.node, action.handle, action.note),
        };
      case 'take': {
        const volume = volumeOf(content) as Volume;
        const { note, freeze } = action;
        return {
          ...known,
          outcome: await work.take(content, volume, note, freeze, isCurrent(content, note)),
        };
      }
      case 'delete': {
        const { note } = action;
        return {
          ...known,
          outcome: await work.remove(content, volumeOf(content), note, isCurrent(content, note)),
        };
      }
    }
  }

  return { carryOut, refresh };
}

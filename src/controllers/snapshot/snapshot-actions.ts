import type { PersistentVolumeClaim } from '../../api/core.ts';
import { SNAPSHOT_FINALIZERS } from '../../api/names.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
} from '../../api/resources.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../api/snapshot.ts';
import { getOrUndefined } from '../../kube/get-or-undefined.ts';
import { patchWithRetry } from '../../kube/retry.ts';
import type { EventToSend } from '../lib/event.ts';
import { contentNameOf } from '../lib/snapshot-content.ts';
import type { SnapshotDeps } from './snapshot-deps.ts';
import type { SnapshotAction, SnapshotInput } from './types.ts';

/** Observations of one reconcile that no cache holds. */
export type SnapshotFindings = Pick<SnapshotInput, 'liveContent'>;
export const nothing: SnapshotFindings = { liveContent: undefined };

export interface SnapshotActionRunner {
  /**
   * Carries out an action and returns the findings after it. Throws errors of the API server,
   * including a conflict if an object has changed since it was cached.
   * @returns the findings, or `stale` if the cache does not know yet that the snapshot is gone
   */
  carryOut(
    action: SnapshotAction,
    snapshot: VolumeSnapshot,
    known: SnapshotFindings,
  ): Promise<SnapshotFindings | 'stale'>;
  /**
   * Refreshes the snapshot, its content and its claim in the caches by live reads. Returns false if
   * the snapshot is gone.
   */
  refresh(snapshot: VolumeSnapshot): Promise<boolean>;
}

export function createSnapshotActionRunner(deps: SnapshotDeps): SnapshotActionRunner {
  const { client, snapshots, contents, claims, events, logger } = deps;

  async function write(
    { metadata }: VolumeSnapshot,
    patch: object,
    more = {},
    status = false,
  ): Promise<void> {
    const { name, namespace, uid, resourceVersion } = metadata;
    snapshots.recordWrite(
      await client.patch<VolumeSnapshot>(
        VOLUME_SNAPSHOTS,
        name,
        { ...patch, metadata: { ...more, uid, resourceVersion } },
        { namespace, ...(status && { subresource: 'status' }) },
      ),
    );
  }

  async function writeContent({ metadata }: VolumeSnapshotContent, patch: object): Promise<void> {
    const { name, uid, resourceVersion } = metadata;
    const guarded = { ...patch, metadata: { uid, resourceVersion } };
    contents.recordWrite(
      await client.patch<VolumeSnapshotContent>(VOLUME_SNAPSHOT_CONTENTS, name, guarded),
    );
  }

  async function learnContent(name: string): Promise<VolumeSnapshotContent | undefined> {
    const live = await getOrUndefined<VolumeSnapshotContent>(
      client,
      VOLUME_SNAPSHOT_CONTENTS,
      name,
    );
    if (live !== undefined) contents.recordWrite(live);
    return live;
  }

  const liveSnapshot = ({ metadata: { name, namespace } }: VolumeSnapshot) =>
    getOrUndefined<VolumeSnapshot>(client, VOLUME_SNAPSHOTS, name, namespace);

  async function refresh(snapshot: VolumeSnapshot): Promise<boolean> {
    const live = await liveSnapshot(snapshot);
    if (live === undefined) return false;
    snapshots.recordWrite(live);
    const name = contentNameOf(live);
    if (name !== undefined) await learnContent(name);
    const { persistentVolumeClaimName: claimName } = live.spec.source;
    const { namespace } = live.metadata;
    const claim =
      claimName === undefined
        ? undefined
        : await getOrUndefined<PersistentVolumeClaim>(
            client,
            PERSISTENT_VOLUME_CLAIMS,
            claimName,
            namespace,
          );
    if (claim !== undefined) claims.recordWrite(claim);
    return true;
  }

  async function carryOut(
    action: SnapshotAction,
    snapshot: VolumeSnapshot,
    known: SnapshotFindings,
  ): Promise<SnapshotFindings | 'stale'> {
    const { name, namespace, uid, finalizers = [] } = snapshot.metadata;
    const id = `${namespace}/${name}`;
    logger.debug({ snapshot: id, action: action.do }, 'effect');
    switch (action.do) {
      case 'add-finalizer':
        await write(snapshot, {}, { finalizers: [...finalizers, action.finalizer] });
        return known;
      case 'take-off-finalizers': {
        // Other controllers remove their finalizers at the same time: a conflict is common and
        // harmless.
        const released = await patchWithRetry<VolumeSnapshot>(
          client,
          VOLUME_SNAPSHOTS,
          name,
          ({ metadata }) => {
            const left = metadata.finalizers?.filter((each) => !action.finalizers.includes(each));
            const held = left?.length !== metadata.finalizers?.length;
            return metadata.uid === uid && held ? { metadata: { finalizers: left } } : undefined;
          },
          { namespace: namespace ?? '' },
        );
        if (released.metadata.uid === uid) snapshots.recordWrite(released);
        return known;
      }
      case 'set-class':
        await write(snapshot, { spec: { volumeSnapshotClassName: action.name } });
        return known;
      case 'protect-claim': {
        const { metadata } = action.claim;
        const patch = {
          metadata: {
            finalizers: [...(metadata.finalizers ?? []), SNAPSHOT_FINALIZERS.claimAsSource],
            uid: metadata.uid,
            resourceVersion: metadata.resourceVersion,
          },
        };
        const options = { namespace };
        claims.recordWrite(
          await client.patch<PersistentVolumeClaim>(
            PERSISTENT_VOLUME_CLAIMS,
            metadata.name,
            patch,
            options,
          ),
        );
        return known;
      }
      case 'create-content': {
        // If the snapshot was deleted meanwhile, its deletion found no content to remove: create
        // none.
        const live = await liveSnapshot(snapshot);
        if (live !== undefined) snapshots.recordWrite(live);
        if (live?.metadata.uid !== uid) return 'stale';
        if (live?.metadata.deletionTimestamp !== undefined) return known;
        contents.recordWrite(await client.create(VOLUME_SNAPSHOT_CONTENTS, action.content));
        logger.info(
          { snapshot: id, content: action.content.metadata.name },
          'snapshot content created',
        );
        if (action.event) emit(snapshot, action.event);
        return known;
      }
      case 'read-content':
        return { liveContent: { found: await learnContent(action.name) } };
      case 'bind-content':
        await writeContent(action.content, { spec: { volumeSnapshotRef: { uid } } });
        return known;
      case 'delete-content': {
        const { metadata } = action.content;
        await client.delete(VOLUME_SNAPSHOT_CONTENTS, metadata.name, { uid: metadata.uid });
        return { liveContent: { found: await learnContent(metadata.name) } };
      }
      case 'set-status':
        await write(snapshot, { status: action.fields }, {}, true);
        if (action.event) emit(snapshot, action.event);
        return known;
    }
  }

  function emit(snapshot: VolumeSnapshot, { type, reason, message, detail }: EventToSend): void {
    events.event(snapshot, type, reason, message, detail);
  }

  return { carryOut, refresh };
}

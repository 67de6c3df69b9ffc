import { BACKUPS, type Backup } from '../../api/builtins/backup.ts';
import type { KubeNode } from '../../api/core.ts';
import type { Logger } from '../../api/logger.ts';
import { apiVersionOf } from '../../api/meta.ts';
import { BACKUP_FINALIZER } from '../../api/names.ts';
import { isPaused } from '../../api/paused.ts';
import { explain } from '../../api/reasons.ts';
import { NODES, VOLUME_SNAPSHOTS } from '../../api/resources.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../api/snapshot.ts';
import { ApiError, isAlreadyExists, isConflict, isNotFound } from '../../kube/errors.ts';
import type { EventRecorder } from '../../kube/events.ts';
import { getOrUndefined } from '../../kube/get-or-undefined.ts';
import type { Informer } from '../../kube/informer.ts';
import type { KubeClient } from '../../kube/types.ts';
import { RETRY } from '../../model/retry.ts';
import type { JobWatcher } from '../../nodes/job-watcher.ts';
import type { Clock } from '../../workqueue/clock.ts';
import { contentNameOf } from '../lib/snapshot-content.ts';
import { factsOf, type Result } from '../snapshot/content-reconciler.ts';
import { decideBackup, jobOf, snapshotNameOf } from './decide-backup.ts';
import { type BackupWork, backupJobKey } from './node-work.ts';
import type { BackupAction, BackupInput, BackupJob, BackupOutcome } from './types.ts';

export interface BackupDeps {
  client: KubeClient;
  backups: Informer<Backup>;
  snapshots: Informer<VolumeSnapshot>;
  contents: Informer<VolumeSnapshotContent>;
  /** Reports whether the cluster has VolumeSnapshots; undefined until their caches are known. */
  hasSnapshots(): boolean | undefined;
  nodes: Informer<KubeNode>;
  work: BackupWork;
  jobWatcher: JobWatcher;
  /** Reports whether this process manages the node. */
  managesNode(node: string): boolean;
  events: EventRecorder;
  clock: Pick<Clock, 'timeOfDay'>;
  logger: Logger;
  /** Requeues the Backup. */
  enqueue(namespace: string, name: string): void;
}

/** Returns the loop around `decideBackup`: reads, decides, carries out one action, and repeats. */
export function createBackupReconciler(
  deps: BackupDeps,
): (namespace: string, name: string, signal: AbortSignal) => Promise<Result> {
  const { client, backups, snapshots, nodes, events, clock, logger, work } = deps;

  function inputOf(
    backup: Backup,
    outcome: BackupOutcome | undefined,
    hasSnapshots: boolean,
  ): BackupInput {
    const snapshot = snapshots.get(snapshotNameOf(backup), backup.metadata.namespace);
    const content = snapshot && deps.contents.get(contentNameOf(snapshot) ?? '');
    const nodeFacts = (node: string) => factsOf(deps, node);
    return { backup, snapshot, content, hasSnapshots, nodeFacts, outcome };
  }

  async function write(
    { metadata }: Backup,
    patch: object,
    more = {},
    status = false,
  ): Promise<void> {
    const { name, namespace, uid, resourceVersion } = metadata;
    const options = { namespace, ...(status ? { subresource: 'status' as const } : {}) };
    backups.recordWrite(
      await client.patch<Backup>(
        BACKUPS,
        name,
        { ...patch, metadata: { ...more, uid, resourceVersion } },
        options,
      ),
    );
  }

  async function refresh({ metadata }: Backup): Promise<boolean> {
    const live = await getOrUndefined<Backup>(client, BACKUPS, metadata.name, metadata.namespace);
    if (live !== undefined) backups.recordWrite(live);
    return live !== undefined;
  }

  /**
   * Reports by live reads whether the Backup is as decided on and nothing has been paused since.
   */
  const isCurrent = (backup: Backup, job: BackupJob) => async (): Promise<boolean> => {
    const { name, namespace, resourceVersion } = backup.metadata;
    const [live, node] = await Promise.all([
      client.get<Backup>(BACKUPS, name, { namespace }),
      getOrUndefined<KubeNode>(client, NODES, job.node),
    ]);
    backups.recordWrite(live);
    if (node !== undefined) nodes.recordWrite(node);
    return live.metadata.resourceVersion === resourceVersion && !isPaused(live) && !isPaused(node);
  };

  async function carryOut(
    action: BackupAction,
    backup: Backup,
    known: BackupOutcome | undefined,
  ): Promise<BackupOutcome | undefined> {
    const { metadata } = backup;
    const { name, namespace = '', uid = '' } = metadata;
    logger.debug({ backup: `${namespace}/${name}`, action: action.do }, 'effect');
    switch (action.do) {
      case 'add-finalizer':
        await write(backup, {}, { finalizers: [...(metadata.finalizers ?? []), BACKUP_FINALIZER] });
        return known;
      case 'release':
        await write(
          backup,
          {},
          { finalizers: metadata.finalizers?.filter((each) => each !== BACKUP_FINALIZER) },
        );
        return known;
      case 'set-status': {
        const { fields, event } = action;
        await write(backup, { status: fields }, {}, true);
        logger.info({ backup: `${namespace}/${name}`, uid, ...fields }, 'backup status');
        if (event) events.event(backup, event.type, event.reason, event.message, event.detail);
        const over = fields.phase === 'Completed' || fields.phase === 'Failed';
        const job = jobOf(backup);
        if (over && job !== undefined) await work.forget(backup, job);
        // The known outcome belongs to the previous job.
        return fields.attempt === undefined ? known : undefined;
      }
      case 'create-snapshot': {
        try {
          const wanted = snapshotOf(backup, action.name);
          snapshots.recordWrite(
            await client.create<VolumeSnapshot>(VOLUME_SNAPSHOTS, wanted, { namespace }),
          );
        } catch (error) {
          if (isAlreadyExists(error)) {
            snapshots.recordWrite(
              await client.get<VolumeSnapshot>(VOLUME_SNAPSHOTS, action.name, { namespace }),
            );
          } else if (error instanceof ApiError && error.statusCode < 500) {
            // The status reports a quota, a policy, a missing right or a terminating namespace.
            logger.warn(
              { backup: `${namespace}/${name}`, action: action.do, err: error },
              'snapshot refused by the API server',
            );
            const of = { snapshot: `${namespace}/${action.name}`, said: error.message };
            return { is: 'unknown', ...explain('BackupSnapshotRefused', of) };
          } else throw error;
        }
        return known;
      }
      case 'delete-snapshot': {
        const { metadata: of } = action.snapshot;
        await client
          .delete(VOLUME_SNAPSHOTS, of.name, { namespace, uid: of.uid })
          .catch((error: unknown) => {
            if (!isNotFound(error)) throw error;
          });
        return known;
      }
      case 'run':
        return work.run(
          backup,
          action.job,
          action.handle,
          action.mode,
          isCurrent(backup, action.job),
        );
      case 'observe':
        return work.observe(backup, action.job);
      case 'leave':
        return work.leave(backup, action.job);
    }
  }

  return async (namespace, name, signal) => {
    let known: BackupOutcome | undefined;
    for (let round = 0; round < RETRY.maxActions; round++) {
      signal.throwIfAborted();
      const backup = backups.get(name, namespace);
      if (backup === undefined) return undefined;
      const hasSnapshots = deps.hasSnapshots();
      if (hasSnapshots === undefined) return { retry: true };
      const decision = decideBackup(inputOf(backup, known, hasSnapshots), clock.timeOfDay());
      const { action, watch } = decision;
      if (action === undefined) {
        if (watch !== undefined) {
          deps.jobWatcher.watch(watch.node, backupJobKey(backup, watch), () =>
            deps.enqueue(namespace, name),
          );
        }
        if (decision.retry) return { retry: true };
        return decision.requeueAfter === undefined
          ? undefined
          : { requeueAfterMs: decision.requeueAfter };
      }
      try {
        known = await carryOut(action, backup, known);
      } catch (error) {
        // The object was written or deleted meanwhile: refresh the stale cache by a live read.
        if (!isConflict(error) && !isNotFound(error)) throw error;
        logger.warn(
          { backup: `${namespace}/${name}`, action: action.do, error: error.message },
          'decided on a stale object; deciding again',
        );
        if (!(await refresh(backup)) || isNotFound(error)) return { retry: true };
        known = undefined;
      }
      // The watch event triggers the next reconcile.
      if (action.do === 'release' || action.do === 'delete-snapshot') return undefined;
    }
    throw new Error(
      `Backup ${namespace}/${name}: the decision does not converge after ${RETRY.maxActions} actions`,
    );
  };
}

/** Returns the Backup's own snapshot. The owner reference deletes it even if no daemon runs. */
const snapshotOf = ({ metadata, spec }: Backup, name: string): VolumeSnapshot => ({
  apiVersion: apiVersionOf(VOLUME_SNAPSHOTS),
  kind: VOLUME_SNAPSHOTS.kind,
  metadata: {
    name,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    ownerReferences: [
      {
        ...{ apiVersion: apiVersionOf(BACKUPS), kind: BACKUPS.kind, name: metadata.name },
        ...{ uid: metadata.uid ?? '', controller: true },
      },
    ],
  },
  spec: { source: { persistentVolumeClaimName: spec.claimName ?? '' } },
});

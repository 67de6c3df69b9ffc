import type { KubeNode, PersistentVolume, PersistentVolumeClaim } from '../api/core.ts';
import type { KubeObject } from '../api/meta.ts';
import { SNAPSHOT_FINALIZERS } from '../api/names.ts';
import type {
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '../api/snapshot.ts';
import { parseHandle } from '../api/snapshot-handle.ts';
import type { Volume } from '../api/volume.ts';
import { contentNameOf } from '../controllers/lib/snapshot-content.ts';
import { noteOf } from '../controllers/snapshot/job-record.ts';
import type { Informer } from '../kube/informer.ts';
import { eligibleNodes } from '../model/volume-nodes.ts';
import { handleOf } from './kept-copies.ts';
import { attachmentsChanged, needsReconcile, nodeStateKey } from './predicates.ts';

/** Key of a content, or of a snapshot or claim by its namespace and name. */
export type SnapshotKey =
  | `content/${string}`
  | `snapshot/${string}/${string}`
  | `claim/${string}/${string}`;

export interface SnapshotHandlersDeps {
  snapshots: Informer<VolumeSnapshot>;
  contents: Informer<VolumeSnapshotContent>;
  snapshotClasses: Informer<VolumeSnapshotClass>;
  claims: Informer<PersistentVolumeClaim>;
  persistentVolumes: Informer<PersistentVolume>;
  volumes: Informer<Volume>;
  nodes: Informer<KubeNode>;
  /** Returns snapshots by `namespace/name` of their claim. */
  snapshotsOfClaim(claim: string): VolumeSnapshot[];
  snapshotsOfContent(name: string): VolumeSnapshot[];
  contentsOfVolume(name: string): VolumeSnapshotContent[];
  /** Returns the contents without a copy. */
  untaken(): VolumeSnapshotContent[];
  /** Returns the Volumes whose source is the Volume of that name. */
  clonesOf(name: string): Volume[];
  enqueue(key: SnapshotKey): void;
  /** Requeues the key and resets its backoff. */
  again(key: SnapshotKey): void;
}

const keyOf = ({ metadata }: VolumeSnapshot): SnapshotKey =>
  `snapshot/${metadata.namespace}/${metadata.name}`;

/** Registers handlers that requeue snapshots, contents and claims on changes they may wait for. */
export function registerSnapshotHandlers(deps: SnapshotHandlersDeps): { all(): void } {
  const { snapshots, contents, volumes, enqueue, again } = deps;
  const wakeContent = (name: string) => enqueue(`content/${name}`);
  const wakeSnapshotsOfClaim = (namespace = '', name = '') => {
    for (const snapshot of deps.snapshotsOfClaim(`${namespace}/${name}`)) enqueue(keyOf(snapshot));
  };

  snapshots.onChange(({ object, old }) => {
    enqueue(keyOf(object));
    const { namespace } = object.metadata;
    for (const each of [object, old]) {
      const content = each && contentNameOf(each);
      if (content !== undefined && contents.get(content) !== undefined) wakeContent(content);
      const claim = each?.spec.source.persistentVolumeClaimName;
      if (claim !== undefined) enqueue(`claim/${namespace}/${claim}`);
    }
  });
  /** Requeues contents that wait for space on a node. */
  const wakeForRoom = (named: readonly string[]) => {
    for (const { metadata, spec } of deps.untaken()) {
      const volume = volumes.get(spec.source.volumeHandle ?? '');
      if (volume !== undefined && eligibleNodes(volume).some((node) => named.includes(node))) {
        again(`content/${metadata.name}`);
      }
    }
  };

  contents.onChange(({ type, object, old }) => {
    if (type === 'deleted') wakeForRoom(handleOf(object)?.nodes ?? []);
    const { name: snapshotName = '', namespace = '' } = object.spec.volumeSnapshotRef;
    if (snapshots.get(snapshotName, namespace)) enqueue(`snapshot/${namespace}/${snapshotName}`);
    for (const snapshot of deps.snapshotsOfContent(object.metadata.name)) enqueue(keyOf(snapshot));
    if (type !== 'deleted' && (old === undefined || isChanged(old, object)))
      wakeContent(object.metadata.name);
  });
  deps.snapshotClasses.onChange(() => {
    for (const snapshot of snapshots.list())
      if (!snapshot.status?.readyToUse) enqueue(keyOf(snapshot));
    for (const content of contents.list())
      if (!isAtRest(content)) wakeContent(content.metadata.name);
  });
  deps.claims.onChange(({ object, old }) => {
    const { namespace = '', name, finalizers } = object.metadata;
    wakeSnapshotsOfClaim(namespace, name);
    if (finalizers?.includes(SNAPSHOT_FINALIZERS.claimAsSource))
      enqueue(`claim/${namespace}/${name}`);
    // A clone is bound or deleted, which its source claim may wait for.
    for (const each of [object, old]) {
      const source = each?.spec.dataSourceRef ?? each?.spec.dataSource;
      if (source?.kind === 'PersistentVolumeClaim') enqueue(`claim/${namespace}/${source.name}`);
    }
  });
  deps.persistentVolumes.onChange(({ object }) => {
    const { namespace, name } = object.spec.claimRef ?? {};
    wakeSnapshotsOfClaim(namespace, name);
    // After a start, the informer may list it later than the Volumes cloned from it.
    if (name !== undefined && deps.clonesOf(object.metadata.name).length > 0) {
      enqueue(`claim/${namespace}/${name}`);
    }
  });
  volumes.onChange(({ type, object, old }) => {
    const { metadata, spec, status } = object;
    if (type === 'deleted') wakeForRoom(eligibleNodes(object));
    const moved =
      old === undefined ||
      needsReconcile(old, object) ||
      attachmentsChanged(old, object) ||
      (old.status?.prepared == null) !== (status?.prepared == null);
    if (!moved) return;
    for (const content of deps.contentsOfVolume(metadata.name)) wakeContent(content.metadata.name);
    const claimRef = deps.persistentVolumes.get(metadata.name)?.spec.claimRef;
    wakeSnapshotsOfClaim(claimRef?.namespace, claimRef?.name);
    const { snapshotContentName, volumeName } = spec.source ?? {};
    if (snapshotContentName !== undefined) {
      wakeContent(snapshotContentName);
      for (const snapshot of deps.snapshotsOfContent(snapshotContentName)) enqueue(keyOf(snapshot));
    }
    const cloned =
      volumeName === undefined ? undefined : deps.persistentVolumes.get(volumeName)?.spec.claimRef;
    if (cloned?.name !== undefined) enqueue(`claim/${cloned.namespace}/${cloned.name}`);
  });
  deps.nodes.onChange(({ type, object, old }) => {
    if (type === 'updated' && nodeStateKey(old) === nodeStateKey(object)) return;
    for (const content of contents.list()) {
      if (!isAtRest(content) && reaches(content, object.metadata.name))
        again(`content/${content.metadata.name}`);
    }
  });

  function reaches(content: VolumeSnapshotContent, node: string): boolean {
    const { source } = content.spec;
    const handle = parseHandle(content.status?.snapshotHandle ?? source.snapshotHandle ?? '');
    const volume = volumes.get(source.volumeHandle ?? '');
    return (
      noteOf(content)?.node === node ||
      ('nodes' in handle && handle.nodes.includes(node)) ||
      (volume !== undefined && eligibleNodes(volume).includes(node))
    );
  }

  return {
    all() {
      for (const snapshot of snapshots.list()) enqueue(keyOf(snapshot));
      for (const { metadata } of deps.claims.list()) {
        if (metadata.finalizers?.includes(SNAPSHOT_FINALIZERS.claimAsSource)) {
          enqueue(`claim/${metadata.namespace ?? ''}/${metadata.name}`);
        }
      }
    },
  };
}

/** Reports whether a content needs neither work nor observation. */
const isAtRest = ({ metadata, status }: VolumeSnapshotContent): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.readyToUse === true &&
  status.error === undefined;

/**
 * Reports whether a content changed other than by Stowage's own status. The handle and readiness
 * count, since others may write them.
 */
function isChanged(old: VolumeSnapshotContent, object: VolumeSnapshotContent): boolean {
  const known = ({ status }: VolumeSnapshotContent) =>
    `${status?.snapshotHandle} ${status?.readyToUse ?? false}`;
  return needsReconcile(old as KubeObject, object) || known(old) !== known(object);
}

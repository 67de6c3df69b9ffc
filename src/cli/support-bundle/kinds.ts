import { ARCHIVES } from '../../api/builtins/archive.ts';
import { BACKUPS } from '../../api/builtins/backup.ts';
import { IMAGES } from '../../api/builtins/image.ts';
import type {
  AnyEvent,
  CsiStorageCapacity,
  Lease,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../api/core.ts';
import { leasesOfDaemons } from '../../api/leader.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import {
  COMPONENT,
  DRIVER,
  NO_PROVISIONER,
  PROTECTION_FINALIZER,
  PROVISIONED_BY_ANNOTATION,
  SNAPSHOT_GROUP,
  STORAGE_PROVISIONER_ANNOTATIONS,
} from '../../api/names.ts';
import {
  CSI_DRIVERS,
  CSI_STORAGE_CAPACITIES,
  DEPLOYMENTS,
  EVENTS,
  LEASES,
  LEFTOVERS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  POPULATOR_DEFINITIONS,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
  VOLUME_POPULATORS,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOT_LINKS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../api/resources.ts';
import type {
  ReferenceGrant,
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '../../api/snapshot.ts';
import type { Volume } from '../../api/volume.ts';
import { isOwn } from '../lib/objects/events.ts';
import { MANAGED_BY, NAME_LABEL } from '../lib/objects/installed-labels.ts';

export const VOLUME_ATTACHMENTS: Resource = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'volumeattachments',
  kind: 'VolumeAttachment',
  namespaced: false,
};

interface VolumeAttachment extends KubeObject {
  spec: { attacher: string; source: { persistentVolumeName?: string } };
}

/** Kinds of which an archive has objects, with the selectors of their lists. */
export const LISTED: readonly (readonly [
  resource: Resource,
  selector?: { labelSelector?: string; fieldSelector?: string },
])[] = [
  [VOLUMES],
  [LEFTOVERS],
  [POPULATOR_DEFINITIONS],
  [IMAGES],
  [ARCHIVES],
  [BACKUPS],
  [VOLUME_POPULATORS],
  [VOLUME_SNAPSHOT_LINKS],
  [NODES],
  [STORAGE_CLASSES],
  [CSI_DRIVERS],
  [CSI_STORAGE_CAPACITIES],
  [PERSISTENT_VOLUMES],
  [PERSISTENT_VOLUME_CLAIMS],
  [VOLUME_ATTACHMENTS],
  [VOLUME_SNAPSHOT_CLASSES],
  [VOLUME_SNAPSHOT_CONTENTS],
  [VOLUME_SNAPSHOTS],
  [REFERENCE_GRANTS],
  [DEPLOYMENTS, { labelSelector: `${MANAGED_BY}=${COMPONENT}` }],
  [PODS, { labelSelector: `${NAME_LABEL}=${COMPONENT}` }],
  // Each kubelet renews a Lease in that namespace.
  [LEASES, { fieldSelector: 'metadata.namespace!=kube-node-lease' }],
  [EVENTS],
];

/** Objects by the plural of their kind. */
export type Objects = ReadonlyMap<string, readonly KubeObject[]>;

export const objectsOf = <T extends KubeObject>(objects: Objects, { plural }: Resource): T[] =>
  (objects.get(plural) ?? []) as T[];

const keyOf = (namespace: string | undefined, name: string | undefined): string =>
  `${namespace}/${name}`;

const nameOf = ({ metadata }: KubeObject): string => metadata.name;

/** Returns, of lists of whole kinds, the objects that Stowage serves or depends on. Pure. */
export function servedObjects(all: Objects): Map<string, readonly KubeObject[]> {
  const served = new Map(all);
  /** Keeps some objects of a kind, and returns them. */
  function keep<T extends KubeObject>(resource: Resource, isServed: (object: T) => boolean): T[] {
    const kept = objectsOf<T>(all, resource).filter(isServed);
    if (all.has(resource.plural)) served.set(resource.plural, kept);
    return kept;
  }

  const volumes = objectsOf<Volume>(all, VOLUMES);
  const volumeNames = new Set(volumes.map(nameOf));
  const classesOfVolumes = new Set(volumes.map(({ spec }) => spec.storageClassName));
  const classes = new Set(
    keep<StorageClass>(
      STORAGE_CLASSES,
      ({ provisioner }) => provisioner === DRIVER || provisioner === NO_PROVISIONER,
    )
      // Classes without a provisioner may have volumes of others.
      .filter(
        ({ metadata: { name }, provisioner }) =>
          provisioner === DRIVER || classesOfVolumes.has(name),
      )
      .map(nameOf),
  );
  keep(CSI_DRIVERS, ({ metadata }) => metadata.name === DRIVER);
  keep<CsiStorageCapacity>(CSI_STORAGE_CAPACITIES, ({ storageClassName }) =>
    classes.has(storageClassName),
  );
  const pvs = keep<PersistentVolume>(
    PERSISTENT_VOLUMES,
    ({ metadata: { name, annotations, finalizers } }) =>
      volumeNames.has(name) ||
      annotations?.[PROVISIONED_BY_ANNOTATION] === DRIVER ||
      finalizers?.includes(PROTECTION_FINALIZER) === true,
  );
  const pvNames = new Set(pvs.map(nameOf));
  const claimUids = new Set(pvs.map(({ spec }) => spec.claimRef?.uid));
  const claims = keep<PersistentVolumeClaim>(
    PERSISTENT_VOLUME_CLAIMS,
    ({ metadata: { uid, annotations }, spec }) =>
      pvNames.has(spec.volumeName ?? '') ||
      classes.has(spec.storageClassName ?? '') ||
      (uid !== undefined && claimUids.has(uid)) ||
      STORAGE_PROVISIONER_ANNOTATIONS.some((name) => annotations?.[name] === DRIVER),
  );
  const claimKeys = new Set(claims.map(({ metadata }) => keyOf(metadata.namespace, metadata.name)));
  keep<VolumeAttachment>(
    VOLUME_ATTACHMENTS,
    ({ spec: { attacher, source } }) =>
      attacher === DRIVER || pvNames.has(source.persistentVolumeName ?? ''),
  );
  const snapshotClasses = new Set(
    keep<VolumeSnapshotClass>(VOLUME_SNAPSHOT_CLASSES, ({ driver }) => driver === DRIVER).map(
      nameOf,
    ),
  );
  const contents = keep<VolumeSnapshotContent>(
    VOLUME_SNAPSHOT_CONTENTS,
    ({ spec }) => spec.driver === DRIVER,
  );
  const snapshotKeys = new Set(
    contents.map(({ spec: { volumeSnapshotRef: ref } }) => keyOf(ref?.namespace, ref?.name)),
  );
  keep<VolumeSnapshot>(VOLUME_SNAPSHOTS, ({ metadata: { name, namespace }, spec }) => {
    const { volumeSnapshotClassName, source } = spec;
    return (
      snapshotClasses.has(volumeSnapshotClassName ?? '') ||
      snapshotKeys.has(keyOf(namespace, name)) ||
      claimKeys.has(keyOf(namespace, source?.persistentVolumeClaimName))
    );
  });
  keep<ReferenceGrant>(REFERENCE_GRANTS, ({ spec }) =>
    spec.to.some(
      ({ group, kind }) =>
        (group === SNAPSHOT_GROUP && kind === 'VolumeSnapshot') ||
        (group === '' && kind === 'PersistentVolumeClaim'),
    ),
  );
  const leases = new Set<KubeObject>(leasesOfDaemons(objectsOf<Lease>(all, LEASES)));
  keep(LEASES, (lease) => leases.has(lease));
  const uids = new Set(
    [...served]
      .filter(([plural]) => plural !== EVENTS.plural)
      .flatMap(([, objects]) => objects.map(({ metadata }) => metadata.uid)),
  );
  // A kubelet reports Events of its Node with the name in place of the UID.
  keep<AnyEvent>(
    EVENTS,
    (event) =>
      isOwn(event) ||
      event.involvedObject.kind === NODES.kind ||
      (event.involvedObject.uid !== undefined && uids.has(event.involvedObject.uid)),
  );
  return served;
}

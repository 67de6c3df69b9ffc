import { POPULATOR_GROUP, SNAPSHOT_GROUP, STOWAGE_GROUP, VOLUME_GROUP } from '../../api/names.ts';
import { REFERENCE_GRANTS } from '../../api/resources.ts';

export interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

const rule = (group: string, resources: string[], verbs: string[]): Rule => ({
  apiGroups: [group],
  resources,
  verbs,
});

/** Rights of the daemon in the whole cluster. A test verifies that none is missing or unused. */
export const CLUSTER_RULES: Rule[] = [
  // Created and deleted for claims.
  rule(VOLUME_GROUP, ['volumes'], ['get', 'list', 'watch', 'create', 'patch', 'delete']),
  rule(VOLUME_GROUP, ['volumes/status'], ['patch']),
  // A PersistentVolume blocks the deletion of the Volume that owns it. Some clusters require the
  // right to set finalizers for that (admission plugin OwnerReferencesPermissionEnforcement).
  rule(VOLUME_GROUP, ['volumes/finalizers'], ['update']),
  rule(STOWAGE_GROUP, ['leftovers'], ['get', 'list', 'watch', 'create', 'delete']),
  rule(STOWAGE_GROUP, ['leftovers/status'], ['patch']),
  rule('', ['persistentvolumes'], ['get', 'list', 'watch', 'create', 'patch', 'delete']),
  rule('', ['nodes'], ['get', 'list', 'watch']),
  // Consumers of volumes.
  rule('', ['pods', 'persistentvolumeclaims'], ['list', 'watch']),
  rule('storage.k8s.io', ['storageclasses'], ['get', 'list', 'watch']),
  // The CSIDriver makes schedulers consider storage capacity.
  rule('storage.k8s.io', ['csidrivers'], ['get', 'create']),
  rule(
    SNAPSHOT_GROUP,
    ['volumesnapshotcontents'],
    ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  ),
  rule(SNAPSHOT_GROUP, ['volumesnapshotcontents/status'], ['patch']),
  rule(SNAPSHOT_GROUP, ['volumesnapshotclasses'], ['list', 'watch']),
  rule(SNAPSHOT_GROUP, ['volumesnapshots', 'volumesnapshotlinks'], ['list', 'watch']),
  rule(REFERENCE_GRANTS.group, ['referencegrants'], ['list', 'watch']),
  rule(STOWAGE_GROUP, ['backups'], ['list', 'watch']),
  // Kinds of data sources, and their populators.
  rule(POPULATOR_GROUP, ['volumepopulators'], ['list', 'watch']),
  rule(STOWAGE_GROUP, ['populatordefinitions'], ['list', 'watch']),
  // For detection of the standard snapshot-controller and volume-data-source-validator.
  rule('coordination.k8s.io', ['leases'], ['list', 'watch']),
  rule('apps', ['deployments'], ['list', 'watch']),
];

/**
 * Rights in every namespace: pods, claims, snapshots and their events may be in any. Events about
 * cluster-scoped objects are in `default`.
 */
export const NAMESPACE_RULES: Rule[] = [
  rule('', ['pods/status'], ['patch']),
  rule('', ['events'], ['create', 'patch']),
  rule('', ['persistentvolumeclaims'], ['get', 'patch']),
  rule('', ['persistentvolumeclaims/status'], ['patch']),
  // Created and deleted for backups of claims.
  rule(SNAPSHOT_GROUP, ['volumesnapshots'], ['get', 'create', 'patch', 'delete']),
  rule(SNAPSHOT_GROUP, ['volumesnapshots/status'], ['patch']),
  rule(STOWAGE_GROUP, ['backups'], ['get', 'patch']),
  rule(STOWAGE_GROUP, ['backups/status'], ['patch']),
  // Read again at the moment of use.
  rule(SNAPSHOT_GROUP, ['volumesnapshotlinks'], ['get']),
];

/**
 * Rights in the daemon's namespace: to take and renew the Lease of the leader, which is followed by
 * the rights for the whole cluster. Any name is allowed: with the local transport it is that of the
 * nodes.
 */
export const LEASE_RULES: Rule[] = [
  rule('coordination.k8s.io', ['leases'], ['get', 'create', 'patch']),
];

/** Rights in the daemon's namespace: to publish storage capacity. */
export const CAPACITY_RULES: Rule[] = [
  rule('storage.k8s.io', ['csistoragecapacities'], ['list', 'watch', 'create', 'patch', 'delete']),
];

/**
 * Rights to read Secrets that data sources name. The owner of a namespace binds them there; the
 * installation binds them nowhere.
 */
export const SECRETS_RULES: Rule[] = [rule('', ['secrets'], ['get'])];

/** Rights in the daemon's namespace: claims and pods that fill volumes, and the claims' events. */
export const POPULATION_RULES: Rule[] = [
  rule('', ['pods', 'persistentvolumeclaims'], ['create', 'delete']),
  rule('', ['events'], ['list']),
];

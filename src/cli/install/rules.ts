import { POPULATOR_GROUP, SNAPSHOT_GROUP, STOWAGE_GROUP, VOLUME_GROUP } from '../../api/names.ts';
import { REFERENCE_GRANTS } from '../../api/resources.ts';

/** A rule of a Role or ClusterRole. */
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

/** What the daemon does in the whole cluster: a test has it do all of it, and finds nothing missing and nothing unused. */
export const CLUSTER_RULES: Rule[] = [
  // Made and deleted for claims.
  rule(VOLUME_GROUP, ['volumes'], ['get', 'list', 'watch', 'create', 'patch', 'delete']),
  rule(VOLUME_GROUP, ['volumes/status'], ['patch']),
  // A PersistentVolume holds up the deletion of the Volume that owns it, and some clusters allow that only to who could
  // hold it up anyway (admission plugin OwnerReferencesPermissionEnforcement).
  rule(VOLUME_GROUP, ['volumes/finalizers'], ['update']),
  rule(STOWAGE_GROUP, ['leftovers'], ['get', 'list', 'watch', 'create', 'delete']),
  rule(STOWAGE_GROUP, ['leftovers/status'], ['patch']),
  rule('', ['persistentvolumes'], ['get', 'list', 'watch', 'create', 'patch', 'delete']),
  rule('', ['nodes'], ['get', 'list', 'watch']),
  // Where volumes are needed.
  rule('', ['pods', 'persistentvolumeclaims'], ['list', 'watch']),
  rule('storage.k8s.io', ['storageclasses'], ['get', 'list', 'watch']),
  // By it schedulers know that there is word of room.
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
  // Which kinds volumes are filled from, and how.
  rule(POPULATOR_GROUP, ['volumepopulators'], ['list', 'watch']),
  rule(STOWAGE_GROUP, ['populatordefinitions'], ['list', 'watch']),
  // Whether the standard snapshot-controller is at work.
  rule('coordination.k8s.io', ['leases'], ['list', 'watch']),
  rule('apps', ['deployments'], ['list', 'watch']),
];

/** In every namespace: pods, claims, snapshots and their events are in any, and events about objects that are in none, in `default`. */
export const NAMESPACE_RULES: Rule[] = [
  rule('', ['pods/status'], ['patch']),
  rule('', ['events'], ['create', 'patch']),
  rule('', ['persistentvolumeclaims'], ['get', 'patch']),
  rule('', ['persistentvolumeclaims/status'], ['patch']),
  // Made and deleted for backups of claims.
  rule(SNAPSHOT_GROUP, ['volumesnapshots'], ['get', 'create', 'patch', 'delete']),
  rule(SNAPSHOT_GROUP, ['volumesnapshots/status'], ['patch']),
  rule(STOWAGE_GROUP, ['backups'], ['get', 'patch']),
  rule(STOWAGE_GROUP, ['backups/status'], ['patch']),
  // Read anew at the moment of use.
  rule(SNAPSHOT_GROUP, ['volumesnapshotlinks'], ['get']),
];

/**
 * In the daemon's own namespace: the Lease of whoever leads, which is taken and renewed, and followed by the right to follow them
 * everywhere. Of any name: it is that of
 * the nodes where the transport is local.
 */
export const LEASE_RULES: Rule[] = [
  rule('coordination.k8s.io', ['leases'], ['get', 'create', 'patch']),
];

/** In the daemon's own namespace: what it tells schedulers of room. */
export const CAPACITY_RULES: Rule[] = [
  rule('storage.k8s.io', ['csistoragecapacities'], ['list', 'watch', 'create', 'patch', 'delete']),
];

/** What volumes are filled from may take a secret of its namespace. Who has that binds this there; nothing else does. */
export const SECRETS_RULES: Rule[] = [rule('', ['secrets'], ['get'])];

/** In the daemon's own namespace: the claims and pods by which it fills volumes, and what others say of those claims. */
export const POPULATION_RULES: Rule[] = [
  rule('', ['pods', 'persistentvolumeclaims'], ['create', 'delete']),
  rule('', ['events'], ['list']),
];

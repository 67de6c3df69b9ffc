import { STOWAGE_GROUP, VOLUME_GROUP } from '../../api/names.ts';

export interface CallerRule {
  group: string;
  resource: string;
  verbs: string[];
}

const rule = (group: string, resource: string, ...verbs: string[]): CallerRule => ({
  group,
  resource,
  verbs,
});

/** Permissions that commands for Volumes need. A test verifies that none is missing or unused. */
export const CALLER_RULES: readonly CallerRule[] = [
  rule(VOLUME_GROUP, 'volumes', 'get', 'list', 'watch', 'create', 'patch', 'delete'),
  rule(STOWAGE_GROUP, 'leftovers', 'list'),
  rule('storage.k8s.io', 'storageclasses', 'get', 'list', 'create', 'delete'),
  rule('', 'persistentvolumes', 'get'),
  rule('', 'persistentvolumeclaims', 'get'),
  rule('', 'nodes', 'get', 'list'),
  rule('', 'pods', 'list'),
  rule('', 'events', 'list'),
  // `why` reads Leases to determine whether a daemon leads.
  rule('coordination.k8s.io', 'leases', 'list'),
  rule('apps', 'deployments', 'list'),
];

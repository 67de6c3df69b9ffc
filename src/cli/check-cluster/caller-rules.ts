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

/** What the commands for Volumes do: a test has them do it, and finds nothing missing and nothing unused. */
export const CALLER_RULES: readonly CallerRule[] = [
  rule(VOLUME_GROUP, 'volumes', 'get', 'list', 'watch', 'create', 'patch', 'delete'),
  rule(STOWAGE_GROUP, 'leftovers', 'list'),
  rule('storage.k8s.io', 'storageclasses', 'get', 'list', 'create', 'delete'),
  rule('', 'persistentvolumes', 'get'),
  rule('', 'persistentvolumeclaims', 'get'),
  rule('', 'nodes', 'get', 'list'),
  rule('', 'pods', 'list'),
  rule('', 'events', 'list'),
  // By which `why` knows whether a daemon leads.
  rule('coordination.k8s.io', 'leases', 'list'),
  rule('apps', 'deployments', 'list'),
];

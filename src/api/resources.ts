import type { Resource } from './meta.ts';
import { STOWAGE_GROUP, STOWAGE_VERSION, VOLUME_GROUP, VOLUME_VERSION } from './names.ts';

/** The kinds that Stowage reads or writes. */

export const VOLUMES: Resource = {
  group: VOLUME_GROUP,
  version: VOLUME_VERSION,
  plural: 'volumes',
  kind: 'Volume',
  namespaced: false,
};

export const LEFTOVERS: Resource = {
  group: STOWAGE_GROUP,
  version: STOWAGE_VERSION,
  plural: 'leftovers',
  kind: 'Leftover',
  namespaced: false,
};

export const PERSISTENT_VOLUMES: Resource = {
  group: '',
  version: 'v1',
  plural: 'persistentvolumes',
  kind: 'PersistentVolume',
  namespaced: false,
};

export const PERSISTENT_VOLUME_CLAIMS: Resource = {
  group: '',
  version: 'v1',
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  namespaced: true,
};

export const PODS: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };

export const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };

export const EVENTS: Resource = {
  group: '',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
};

export const STORAGE_CLASSES: Resource = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'storageclasses',
  kind: 'StorageClass',
  namespaced: false,
};

export const LEASES: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
};

import { age } from '../../api/age.ts';
import { VOLUME_SNAPSHOTS } from '../../api/resources.ts';
import type { VolumeSnapshot } from '../../api/snapshot.ts';
import { getObjects } from '../lib/get/get-objects.ts';
import type { ResourceView } from '../lib/get/resource-view.ts';
import { missingKind } from '../lib/objects/missing-snapshots.ts';
import { nameIn } from '../lib/objects/name.ts';
import { phaseOf, sourceText } from '../lib/objects/snapshot-state.ts';
import { listOf } from '../lib/output/data.ts';
import { ageKey, sizeKey } from '../lib/output/sort-keys.ts';

const name = ({ metadata }: VolumeSnapshot) => metadata.name;

/** View of `stowage get snapshots`. */
export const SNAPSHOT_VIEW: ResourceView<VolumeSnapshot> = {
  plural: 'snapshots',
  filters: ['selector', 'allNamespaces'],
  columns: [
    ['NAMESPACE', ({ metadata }) => metadata.namespace, 'all-namespaces'],
    ['NAME', name],
    ['PHASE', phaseOf, 'state'],
    ['SOURCE', sourceText],
    ['SIZE', ({ status }) => status?.restoreSize],
    ['CLASS', ({ spec }) => spec.volumeSnapshotClassName],
    ['TAKEN', ({ status }, now) => age(status?.creationTime, now)],
    ['AGE', ({ metadata }, now) => age(metadata.creationTimestamp, now)],
    ['CONTENT', ({ status }) => status?.boundVolumeSnapshotContentName, 'wide'],
    ['MESSAGE', ({ status }) => status?.error?.message, 'wide'],
  ],
  keyOf: ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
  nameOf: (snapshot) => nameIn(VOLUME_SNAPSHOTS, name(snapshot)),
  sort: {
    by: {
      name,
      age: ({ metadata }) => ageKey(metadata.creationTimestamp),
      size: ({ status }) => sizeKey(status?.restoreSize),
      phase: phaseOf,
    },
    ties: [name, ({ metadata }) => metadata.namespace ?? ''],
  },
  list: listOf,
  get: (request) => getObjects(request, { resource: VOLUME_SNAPSHOTS, failed: missingKind }),
};

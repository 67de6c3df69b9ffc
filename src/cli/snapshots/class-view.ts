import { age } from '../../api/age.ts';
import { VOLUME_SNAPSHOT_CLASSES } from '../../api/resources.ts';
import type { VolumeSnapshotClass } from '../../api/snapshot.ts';
import { freezeOf } from '../../controllers/snapshot/snapshot-class.ts';
import { getObjects } from '../lib/get/get-objects.ts';
import type { ResourceView } from '../lib/get/resource-view.ts';
import { missingKind } from '../lib/objects/missing-snapshots.ts';
import { nameIn } from '../lib/objects/name.ts';
import { listOf } from '../lib/output/data.ts';
import { ageKey } from '../lib/output/sort-keys.ts';
import { isDefault, isOwn } from './class-uses.ts';

const name = ({ metadata }: VolumeSnapshotClass) => metadata.name;

/** Returns for how long a file may be copied while its volume is frozen; undefined if never. */
function frozenCopy(each: VolumeSnapshotClass): string | undefined {
  if (!isOwn(each)) return undefined;
  const freeze = freezeOf(each);
  if ('message' in freeze) return 'invalid';
  return freeze.copy ? `${freeze.seconds}s` : undefined;
}

/** View of `stowage get snapshotclasses`: classes of Stowage's driver. */
export const SNAPSHOT_CLASS_VIEW: ResourceView<VolumeSnapshotClass> = {
  plural: 'snapshot classes of Stowage',
  filters: ['selector'],
  columns: [
    ['NAME', (each) => `${name(each)}${isDefault(each) ? ' (default)' : ''}`],
    ['DRIVER', ({ driver }) => driver],
    ['DELETIONPOLICY', ({ deletionPolicy }) => deletionPolicy],
    ['FROZENCOPY', frozenCopy],
    ['AGE', ({ metadata }, now) => age(metadata.creationTimestamp, now)],
  ],
  keyOf: name,
  nameOf: (each) => nameIn(VOLUME_SNAPSHOT_CLASSES, name(each)),
  sort: {
    by: { name, age: ({ metadata }) => ageKey(metadata.creationTimestamp) },
    ties: [name],
    standard: 'name',
  },
  list: listOf,
  get: (request) =>
    getObjects(request, {
      resource: VOLUME_SNAPSHOT_CLASSES,
      isWanted: isOwn,
      failed: missingKind,
    }),
};

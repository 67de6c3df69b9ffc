import { age } from '../../api/age.ts';
import { VOLUME_SNAPSHOT_CLASSES, VOLUME_SNAPSHOTS } from '../../api/resources.ts';
import type { VolumeSnapshot, VolumeSnapshotClass } from '../../api/snapshot.ts';
import { freezeOf } from '../../controllers/snapshot/snapshot-class.ts';
import { listAll } from '../../kube/client.ts';
import type { Describe } from '../lib/describe-command.ts';
import { headFields, pairs, shown, tableField } from '../lib/objects/description.ts';
import { missingKind } from '../lib/objects/missing-snapshots.ts';
import { phaseOf } from '../lib/objects/snapshot-state.ts';
import { type Field, type FieldValue, fields } from '../lib/output/fields.ts';
import { reading } from '../lib/read-result.ts';
import { isDefault, isOwn } from './class-uses.ts';

/** Returns what `stowage describe snapshotclass` prints. Throws a StowageError. */
export const describeSnapshotClass: Describe = async ({ name }, { signal, clock }, { client }) => {
  const found = await client
    .get<VolumeSnapshotClass>(VOLUME_SNAPSHOT_CLASSES, name, { signal })
    .catch(missingKind);
  const list = listAll<VolumeSnapshot>(client, VOLUME_SNAPSHOTS, { signal });
  const isOf = ({ spec }: VolumeSnapshot) => spec.volumeSnapshotClassName === name;
  const snapshots = await reading(list.then(({ items }) => items.filter(isOf)));
  const now = clock.now();
  return fields([
    ...headFields(found, now),
    ['Driver', found.driver],
    ['Default', isDefault(found) ? 'yes' : 'no'],
    ...optionFields(found),
    ['Deletion policy', found.deletionPolicy],
    ['Snapshots', shown(snapshots, (all) => snapshotTable(all, now))],
  ]);
};

/** Returns the parameters as Stowage reads them, or as they are if it cannot, and why. */
function optionFields(found: VolumeSnapshotClass): Field[] {
  const raw: Field = ['Parameters', pairs(found.parameters)];
  if (!isOwn(found)) return [['Usable', `no: driver ${found.driver} is not Stowage's`], raw];
  const freeze = freezeOf(found);
  if ('message' in freeze) return [['Usable', `no: ${freeze.message}`], raw];
  return [
    ['Usable', 'yes'],
    // A file without shared blocks can only be copied, which takes longer.
    ['Longest freeze', `${freeze.seconds}s`],
    ['Copies frozen files', freeze.copy ? 'yes' : 'no'],
  ];
}

/** Returns a table of snapshots. `now` is in ms since the epoch. */
const snapshotTable = (snapshots: readonly VolumeSnapshot[], now: number): FieldValue =>
  tableField(
    ['NAMESPACE', 'NAME', 'PHASE', 'AGE'],
    snapshots.map((snapshot) => [
      snapshot.metadata.namespace,
      snapshot.metadata.name,
      phaseOf(snapshot),
      age(snapshot.metadata.creationTimestamp, now),
    ]),
  );

import { DRIVER } from '../../../api/names.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../../api/snapshot.ts';
import { parseHandle } from '../../../api/snapshot-handle.ts';
import { isGranted } from '../../../model/data-source/grant.ts';
import type { Describe } from '../../lib/describe-command.ts';
import { eventTable, given, headFields, shown, since } from '../../lib/objects/description.ts';
import { SNAPSHOT_TYPE, whatOf } from '../../lib/objects/grant-kinds.ts';
import { noSnapshots } from '../../lib/objects/missing-snapshots.ts';
import { type Field, type FieldValue, fields } from '../../lib/output/fields.ts';
import { readableSize } from '../../lib/output/size.ts';
import { type Cluster, clusterOf, explainSnapshot } from '../explain.ts';
import type { SnapshotFacts } from '../snapshot/read.ts';
import { blockedBy } from '../why.ts';
import { readGrants } from './grants.ts';

/** Returns what `stowage describe snapshot` prints. Throws a StowageError. */
export const describeSnapshot: Describe = async (name, io, connection) => {
  const { client } = connection;
  const cluster = clusterOf(connection, client, io.signal);
  const explained = await explainSnapshot({ kind: 'VolumeSnapshot', ...name }, io, cluster);
  const { known } = explained;
  if (known === undefined) throw noSnapshots();
  const { snapshot, content, events } = known;
  const { spec, status } = snapshot;
  const now = io.clock.timeOfDay();
  return fields([
    ...headFields(snapshot, now),
    ['Phase', explained.subject.phase],
    ['Source', sourceOf(known)],
    ['Snapshot class', spec.volumeSnapshotClassName],
    ['Ready to use', status?.readyToUse === undefined ? undefined : String(status.readyToUse)],
    ['Taken', since(status?.creationTime, now)],
    ['Size', status?.restoreSize && readableSize(status.restoreSize)],
    ...given('Error', status?.error?.message),
    ['Granted to', await granteesOf(snapshot, cluster, io.signal)],
    ['Blocked by', await blockedBy(explained, io, client)],
    ['Content', shown(content, (found) => ({ fields: contentFields(found) }))],
    ['Events', shown(events, (all) => eventTable(all, now))],
  ]);
};

function sourceOf({ snapshot, claim }: SnapshotFacts): FieldValue {
  const { persistentVolumeClaimName: name, volumeSnapshotContentName } = snapshot.spec.source;
  if (name === undefined) return `content ${volumeSnapshotContentName ?? ''}`;
  if ('absent' in claim) return `claim ${name} (missing)`;
  return shown(claim, ({ status }) => `claim ${name} (${status?.phase ?? 'Pending'})`);
}

function contentFields({ metadata, spec, status }: VolumeSnapshotContent): Field[] {
  const handle = status?.snapshotHandle ?? spec.source.snapshotHandle;
  return [
    ['Name', metadata.name],
    ['Driver', spec.driver],
    ['Deletion policy', spec.deletionPolicy],
    ['Handle', handle],
    ...(spec.driver === DRIVER && handle !== undefined ? placeFields(handle) : []),
    ...given('Error', status?.error?.message),
  ];
}

function placeFields(text: string): Field[] {
  const handle = parseHandle(text);
  if ('problem' in handle) return [['Invalid', handle.problem]];
  return [
    ['Node', handle.nodes.join(', ')],
    handle.type === 'file'
      ? ['Path', handle.path]
      : ['Logical volume', `${handle.vgName}/${handle.name}`],
  ];
}

/** Returns what may use the snapshot from other namespaces, and by which grants. */
async function granteesOf(
  { metadata: { namespace = '', name } }: VolumeSnapshot,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<FieldValue> {
  const to = { ...SNAPSHOT_TYPE, namespace, name };
  return shown(await readGrants(cluster, namespace, signal), (grants) =>
    grants.flatMap((grant) =>
      (grant.spec?.from ?? [])
        .filter((from) => whatOf(from) !== undefined && isGranted([grant], from, to))
        .map(
          (from) =>
            `${whatOf(from)} of namespace ${from.namespace}, by ReferenceGrant ${grant.metadata.name}`,
        ),
    ),
  );
}

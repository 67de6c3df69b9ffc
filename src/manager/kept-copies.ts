import { dirname } from 'node:path/posix';
import { DRIVER } from '../api/names.ts';
import type { VolumeSnapshotContent } from '../api/snapshot.ts';
import { parseHandle, type SnapshotHandle } from '../api/snapshot-handle.ts';
import type { Volume } from '../api/volume.ts';
import type { Reservations } from '../controllers/lib/capacity/reservations.ts';
import type { KeptCopy } from '../controllers/lib/capacity/room.ts';
import { noteOf } from '../controllers/snapshot/job-record.ts';
import { indexBy } from '../kube/index-by.ts';
import type { Informer } from '../kube/informer.ts';
import { sizeOf } from '../storage/registry.ts';

/**
 * Returns a lookup of the snapshots on a node, and those for which a job is named, as users of
 * space. Call it before the informers start.
 * @param naming contents in which jobs are being named
 */
export function copiesOf(
  contents: Informer<VolumeSnapshotContent>,
  volumes: Pick<Informer<Volume>, 'get'>,
  naming: Reservations<VolumeSnapshotContent>,
): (node: string) => readonly KeptCopy[] {
  const on = indexBy(contents, (content) => handleOf(content)?.nodes);
  return (node) => {
    // A content may be in both lists.
    const all = [...naming.on(node), ...on(node)].map(
      (content) => [content.metadata.uid, content] as const,
    );
    return [...new Map(all).values()].flatMap((content) => copyOf(content, volumes) ?? []);
  };
}

/**
 * Returns the location of a content's copy, or where a named job may create it; undefined without
 * either.
 */
export function handleOf(content: VolumeSnapshotContent): SnapshotHandle | undefined {
  const { spec, status } = content;
  if (spec.driver !== DRIVER) return undefined;
  const text = status?.snapshotHandle ?? spec.source.snapshotHandle;
  if (text === undefined) return noteOf(content)?.handle;
  const handle = parseHandle(text);
  return 'problem' in handle ? undefined : handle;
}

/**
 * Returns the space that a copy takes. Its file is in a directory of snapshots, in the directory of
 * its volume.
 */
function copyOf(
  content: VolumeSnapshotContent,
  volumes: Pick<Informer<Volume>, 'get'>,
): KeptCopy | undefined {
  const handle = handleOf(content);
  if (handle === undefined) return undefined;
  const { metadata, spec, status } = content;
  const { uid = '' } = metadata;
  const volume = volumes.get(spec.source.volumeHandle ?? '');
  // A copy that is not ready will have the volume's size.
  const sizeBytes =
    status?.restoreSize === undefined
      ? volume === undefined
        ? 0n
        : sizeOf(volume.spec)
      : BigInt(status.restoreSize);
  if (handle.type === 'file') return { uid, place: dirname(dirname(handle.path)), sizeBytes };
  // Without the volume, LVM's own sums include the copy.
  const { vgName, thinPool } = volume?.spec.lvmLogicalVolume ?? {};
  if (vgName !== handle.vgName || thinPool == null) return undefined;
  return { uid, place: `${vgName}/${thinPool}`, lvName: handle.name, sizeBytes };
}

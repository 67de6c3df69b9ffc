import { basename } from 'node:path/posix';
import { DRIVER } from '../../api/names.ts';
import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import { parseHandle, type SnapshotHandle, snapshotUidOf } from '../../api/snapshot-handle.ts';
import type { Volume } from '../../api/volume.ts';

interface Others {
  /** All VolumeSnapshotContents. */
  contents: readonly VolumeSnapshotContent[];
  volumes: readonly Volume[];
  /** Returns the Volumes being provisioned from the content of that name. */
  restoresOf(contentName: string): readonly Volume[];
}

/**
 * Reports whether another content that stays, or a Volume, owns the copy. A Volume's directory can
 * be named like a snapshot's, and a handle written by hand can contain a Volume's UID. Pure.
 */
export function isOfAnother(
  { metadata: { uid } }: VolumeSnapshotContent,
  handle: SnapshotHandle,
  { contents, volumes, restoresOf }: Others,
): boolean {
  const stays = contents.some(
    ({ metadata, spec, status }) =>
      metadata.uid !== uid &&
      (metadata.deletionTimestamp === undefined || restoresOf(metadata.name).length > 0) &&
      spec.driver === DRIVER &&
      isSame(handle, status?.snapshotHandle ?? spec.source.snapshotHandle),
  );
  const named = handle.type === 'file' ? basename(handle.path) : snapshotUidOf(handle.name);
  return stays || volumes.some(({ metadata }) => metadata.uid === named);
}

function isSame(handle: SnapshotHandle, text: string | undefined): boolean {
  const other = parseHandle(text ?? '');
  if ('problem' in other || !other.nodes.some((node) => handle.nodes.includes(node))) return false;
  if (other.type === 'file') return handle.type === 'file' && other.path === handle.path;
  return handle.type === 'lvm' && other.vgName === handle.vgName && other.name === handle.name;
}

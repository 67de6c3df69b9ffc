import { basename } from 'node:path/posix';
import { DRIVER } from '../../api/names.ts';
import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import { parseHandle, type SnapshotHandle, snapshotUidOf } from '../../api/snapshot-handle.ts';
import type { Volume } from '../../api/volume.ts';

interface Others {
  /** All there are. */
  contents: readonly VolumeSnapshotContent[];
  volumes: readonly Volume[];
  /** Volumes that are being made from the content of that name. */
  restoresOf(contentName: string): readonly Volume[];
}

/**
 * Whether the copy of a content is what another one has as well, one that stays; or a Volume, whose directory may be called as
 * that of snapshots is, or whose UID somebody wrote into a handle. Pure.
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

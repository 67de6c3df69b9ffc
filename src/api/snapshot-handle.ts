import { directoryWanted } from './directory.ts';
import { isDnsSubdomain } from './dns-name.ts';
import { isLvmName } from './lvm-name.ts';

/**
 * Handle of a snapshot in a VolumeSnapshotContent: `file:NODES:PATH` or `lvm:NODE:VG/LV`. The
 * handle alone locates the data, so that a content restored from a backup or created by hand
 * suffices. `NODES`: comma-separated nodes that share the directory, else the one node.
 */
export type SnapshotHandle =
  | { type: 'file'; nodes: readonly string[]; path: string }
  | { type: 'lvm'; nodes: readonly [string]; vgName: string; name: string };

const UID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Subdirectory for snapshots in the directory of their volumes: the same file system, so that
 * snapshots and volumes can share blocks.
 */
export const SNAPSHOTS_DIRECTORY = 'snapshots';

const SNAP = 'snap-';

/**
 * Returns the name of a snapshot's logical volume. LVM reserves names that begin with `snapshot`.
 */
export const snapshotLvName = (uid: string) => `${SNAP}${uid}`;

/** Returns the UID in the name of a snapshot's logical volume. */
export const snapshotUidOf = (name: string) => name.slice(SNAP.length);

export function formatHandle(handle: SnapshotHandle): string {
  const where = handle.nodes.join(',');
  return handle.type === 'file'
    ? `file:${where}:${handle.path}`
    : `lvm:${where}:${handle.vgName}/${handle.name}`;
}

/**
 * Parses a handle. A handle written by hand may name snapshots of Stowage, but
 * no other file or logical volume.
 */
export function parseHandle(text: string): SnapshotHandle | { problem: string } {
  const [, type, where = '', rest = ''] = /^(file|lvm):([^:]*):(.*)$/s.exec(text) ?? [];
  const quoted = JSON.stringify(text);
  if (type === undefined)
    return { problem: `${quoted} is neither file:NODES:PATH nor lvm:NODE:VG/LV` };
  const nodes = where.split(',');
  const odd = nodes.find((node) => !isDnsSubdomain(node));
  if (odd !== undefined)
    return { problem: `${quoted}: ${JSON.stringify(odd)} is not a valid node name` };
  if (type === 'file') {
    const [directory, uid = ''] = rest.split('/').slice(-2);
    const wanted = directoryWanted(rest);
    if (wanted !== undefined) return { problem: `${quoted}: the path must ${wanted}` };
    return directory === SNAPSHOTS_DIRECTORY && UID.test(uid)
      ? { type: 'file', nodes, path: rest }
      : { problem: `${quoted}: the path must end in /${SNAPSHOTS_DIRECTORY}/UID` };
  }
  const [vgName = '', name = '', ...more] = rest.split('/');
  const [node = '', ...others] = nodes;
  if (others.length > 0)
    return { problem: `${quoted}: a logical volume must have exactly one node` };
  return isLvmName(vgName) &&
    name.startsWith(SNAP) &&
    UID.test(snapshotUidOf(name)) &&
    more.length === 0
    ? { type: 'lvm', nodes: [node], vgName, name }
    : { problem: `${quoted}: the part after the node must be VG/snap-UID` };
}

import { dirname } from 'node:path/posix';
import { DRIVER } from '../api/names.ts';
import type { VolumeSnapshotContent } from '../api/snapshot.ts';
import { parseHandle } from '../api/snapshot-handle.ts';
import { indexBy } from '../kube/index-by.ts';
import type { Informer } from '../kube/informer.ts';
import type { KeptCopy } from '../provisioning/room/room.ts';

/** The snapshots that are on a node, as what takes room there. Make it before the informer is started. */
export function copiesOf(contents: Informer<VolumeSnapshotContent>): (node: string) => readonly KeptCopy[] {
  const on = indexBy(contents, (content) => handleOf(content)?.nodes);
  return (node) => on(node).flatMap((content) => copyOf(content) ?? []);
}

function handleOf({ spec, status }: VolumeSnapshotContent) {
  const text = status?.snapshotHandle ?? spec.source.snapshotHandle;
  if (spec.driver !== DRIVER || text === undefined) return undefined;
  const handle = parseHandle(text);
  return 'problem' in handle ? undefined : handle;
}

/** A file is in a folder of snapshots, in the folder of its volume. Thin pools are asked for what is in them. */
function copyOf(content: VolumeSnapshotContent): KeptCopy | undefined {
  const handle = handleOf(content);
  if (handle?.type !== 'file') return undefined;
  return { place: dirname(dirname(handle.path)), sizeBytes: BigInt(content.status?.restoreSize ?? 0) };
}

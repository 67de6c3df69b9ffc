import type { VolumeSnapshotContent } from '../api/snapshot.ts';
import { parseHandle } from '../api/snapshot-handle.ts';
import type { Volume } from '../api/volume.ts';
import type { DesiredSparse } from '../storage/types.ts';
import { desiredOf } from './desired.ts';

/** Where the data is that a Volume starts from; or why it can't be made from that now. */
export type Source = { from: NonNullable<DesiredSparse['source']> } | { problem: string };

/**
 * Reads what a Volume's `spec.source` names. What is not there may come, so that nothing of this is for good; and without it nothing
 * is made. Throws what the reads throw.
 */
export async function readSource(
  { spec }: Volume,
  node: string,
  read: {
    content(name: string): Promise<VolumeSnapshotContent | undefined>;
    volume(name: string): Promise<Volume | undefined>;
  },
): Promise<Source> {
  const { snapshotContentName, volumeName } = spec.source ?? {};
  if (snapshotContentName !== undefined) {
    return fromContent(snapshotContentName, await read.content(snapshotContentName), node);
  }
  return fromVolume(volumeName ?? '', await read.volume(volumeName ?? ''), node);
}

function fromContent(name: string, content: VolumeSnapshotContent | undefined, node: string): Source {
  const what = `VolumeSnapshotContent ${name}`;
  if (content === undefined) return { problem: `${what}, which it starts from, does not exist` };
  const text = content.status?.snapshotHandle ?? content.spec.source.snapshotHandle;
  if (text === undefined || content.status?.readyToUse !== true) {
    return { problem: `${what}, which it starts from, is not ready to be used` };
  }
  const handle = parseHandle(text);
  if ('problem' in handle) return { problem: `${what}: its snapshotHandle ${handle.problem}` };
  if (handle.type !== 'file') {
    return { problem: `${what} is a logical volume, and a sparse file starts from a file` };
  }
  if (!handle.nodes.includes(node)) {
    return { problem: `${what} is on node ${handle.nodes.join(', ')}, and the Volume is to be on ${node}` };
  }
  const mode = content.spec.sourceVolumeMode === 'Block' ? 'Block' : 'Filesystem';
  return { from: { file: handle.path, mode, what: 'snapshot' } };
}

function fromVolume(name: string, source: Volume | undefined, node: string): Source {
  const what = `Volume ${name}, which it starts from,`;
  if (source === undefined) return { problem: `${what} does not exist` };
  if (source.status?.prepared === undefined) return { problem: `${what} is not made yet` };
  const desired = desiredOf(source, undefined, node);
  if (desired.type !== 'sparse') return { problem: `${what} is no sparse file` };
  const nodes = source.spec.attachableNodes ?? [source.status.prepared.node];
  if (!nodes.includes(node)) {
    return { problem: `${what} is on node ${nodes.join(', ')}, and this one is to be on ${node}` };
  }
  // Writes of its pods wait no longer than for a snapshot of it; where the file system clones no files, it has to be unused.
  const freeze = { seconds: 10, copy: false };
  return { from: { file: desired.file, mode: desired.mode, what: 'volume', freeze } };
}

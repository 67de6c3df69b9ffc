import { isWrittenOnSeveral } from '../../api/access-modes.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import { parseHandle, type SnapshotHandle, snapshotUidOf } from '../../api/snapshot-handle.ts';
import type { Volume } from '../../api/volume.ts';
import type { Fill } from '../../storage/populate/types.ts';
import type { Source as FileSource, ThinSource } from '../../storage/types.ts';
import { desiredOf } from './desired-volume.ts';
import { fillOf, type SecretRead } from './fill.ts';

/** Where the data is that a Volume starts from; or why it can't be made from that now. */
export type Source = { from: FileSource | ThinSource } | { fill: Fill } | { problem: string };

/**
 * Reads what a Volume's `spec.source` names. What is not there may come, so that nothing of this is for good; and without it nothing
 * is made. Throws what the reads throw.
 */
export async function readSource(
  volume: Volume,
  node: string,
  read: {
    content(name: string): Promise<VolumeSnapshotContent | undefined>;
    volume(name: string): Promise<Volume | undefined>;
    secret: SecretRead;
  },
): Promise<Source> {
  const { snapshotContentName, volumeName, populator } = volume.spec.source ?? {};
  if (populator !== undefined) return fillOf(populator, read.secret, namespaceOf(volume));
  if (snapshotContentName !== undefined) {
    return fromContent(volume, snapshotContentName, await read.content(snapshotContentName), node);
  }
  return fromVolume(volume, volumeName ?? '', await read.volume(volumeName ?? ''), node);
}

/** Returns the namespace of the claim that the Volume is made for. */
function namespaceOf({ spec }: Volume): string | undefined {
  const { namespace } = (spec.template?.spec?.claimRef ?? {}) as { namespace?: unknown };
  // A line of its own on the node.
  return typeof namespace === 'string' && /^[a-z0-9-]+$/.test(namespace) ? namespace : undefined;
}

function fromContent(
  { spec }: Volume,
  name: string,
  content: VolumeSnapshotContent | undefined,
  node: string,
): Source {
  const what = `VolumeSnapshotContent ${name}`;
  if (content === undefined) return { problem: `${what}, which it starts from, does not exist` };
  if (isAnother(spec, content))
    return {
      problem: `${what} is another one of its name by now, and not what it was to start from`,
    };
  const text = content.status?.snapshotHandle ?? content.spec.source.snapshotHandle;
  if (text === undefined || content.status?.readyToUse !== true) {
    return { problem: `${what}, which it starts from, is not ready to be used` };
  }
  const handle = parseHandle(text);
  if ('problem' in handle) return { problem: `${what}: its snapshotHandle ${handle.problem}` };
  if (!handle.nodes.includes(node)) {
    return {
      problem: `${what} is on node ${handle.nodes.join(', ')}, and the Volume is to be on ${node}`,
    };
  }
  const mode = content.spec.sourceVolumeMode === 'Block' ? 'Block' : 'Filesystem';
  const from = handleSource(handle, mode);
  return mayStart(spec, from) ?? { from };
}

function handleSource(handle: SnapshotHandle, mode: FileSource['mode']): FileSource | ThinSource {
  const what = 'snapshot';
  if (handle.type === 'file') return { what, mode, file: handle.path };
  const { vgName, name } = handle;
  return { what, mode, vgName, name, uid: snapshotUidOf(name) };
}

/** Who was allowed to start from one is not allowed to start from another one that has its name. */
const isAnother = ({ source }: Volume['spec'], { metadata }: KubeObject): boolean =>
  source?.uid !== undefined && source.uid !== metadata.uid;

/** Files are copied to files, and thin volumes are snapshots of thin volumes. */
function mayStart(
  { lvmLogicalVolume }: Volume['spec'],
  from: FileSource | ThinSource,
): Source | undefined {
  if ('file' in from) {
    return lvmLogicalVolume == null
      ? undefined
      : {
          problem: `what it starts from is the file ${from.file}, and a logical volume starts from one`,
        };
  }
  if (lvmLogicalVolume == null) {
    return {
      problem: `what it starts from is a logical volume, and a sparse file starts from a file`,
    };
  }
  return lvmLogicalVolume.thinPool == null
    ? {
        problem:
          'it is to be a logical volume outside a thin pool, and only thin volumes start from another',
      }
    : undefined;
}

function fromVolume(
  { spec }: Volume,
  name: string,
  source: Volume | undefined,
  node: string,
): Source {
  const what = `Volume ${name}, which it starts from,`;
  if (source === undefined) return { problem: `${what} does not exist` };
  if (isAnother(spec, source)) return { problem: `${what} is another one of its name by now` };
  if (source.status?.prepared === undefined) return { problem: `${what} is not made yet` };
  // Whatever is in it may be overwritten already.
  if (source.metadata.deletionTimestamp !== undefined)
    return { problem: `${what} is being deleted` };
  const desired = desiredOf(source, undefined, node);
  if (desired.type === 'raw')
    return { problem: `${what} is a raw device, which nothing starts from` };
  if (isWrittenOnSeveral(source.spec)) {
    return {
      problem: `${what} is on a directory that several nodes share, and no copies of such volumes are made. Copy its data within a pod`,
    };
  }
  const nodes = source.spec.attachableNodes ?? [source.status.prepared.node];
  if (!nodes.includes(node)) {
    return { problem: `${what} is on node ${nodes.join(', ')}, and this one is to be on ${node}` };
  }
  // Writes of its pods wait no longer than for a snapshot of it; where the file system clones no files, it has to be unused.
  const freeze = { seconds: 10, copy: false };
  const { mode } = desired;
  const from: FileSource | ThinSource =
    desired.type === 'sparse'
      ? { file: desired.file, mode, what: 'volume', freeze }
      : { what: 'volume', mode, vgName: desired.vgName, name: desired.name, uid: desired.uid };
  return mayStart(spec, from) ?? { from };
}

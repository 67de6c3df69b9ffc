import { isWrittenOnSeveral } from '../../api/access-modes.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import { parseHandle, type SnapshotHandle, snapshotUidOf } from '../../api/snapshot-handle.ts';
import type { Volume } from '../../api/volume.ts';
import { desiredOf, type VolumeSource } from '../../model/desired-volume.ts';
import { driverOf, driverOfSpec } from '../../storage/registry.ts';
import type { Source as FileSource, ThinSource } from '../../storage/types.ts';
import { fillOf, type SecretRead } from './fill-source.ts';

/**
 * Reads the source that a Volume's `spec.source` names. No problem is permanent, since a missing
 * source may appear later. Throws what the reads throw.
 */
export async function readSource(
  volume: Volume,
  node: string,
  read: {
    content(name: string): Promise<VolumeSnapshotContent | undefined>;
    volume(name: string): Promise<Volume | undefined>;
    secret: SecretRead;
  },
): Promise<VolumeSource> {
  const { snapshotContentName, volumeName, populator } = volume.spec.source ?? {};
  if (populator !== undefined) return fillOf(populator, read.secret, namespaceOf(volume));
  if (snapshotContentName !== undefined) {
    return fromContent(volume, snapshotContentName, await read.content(snapshotContentName), node);
  }
  return fromVolume(volume, volumeName ?? '', await read.volume(volumeName ?? ''), node);
}

/** Returns the namespace of the claim that the Volume is provisioned for. */
function namespaceOf({ spec }: Volume): string | undefined {
  const { namespace } = (spec.template?.spec?.claimRef ?? {}) as { namespace?: unknown };
  // The node stores the namespace as one line.
  return typeof namespace === 'string' && /^[a-z0-9-]+$/.test(namespace) ? namespace : undefined;
}

function fromContent(
  { spec }: Volume,
  name: string,
  content: VolumeSnapshotContent | undefined,
  node: string,
): VolumeSource {
  const what = `VolumeSnapshotContent ${name}`;
  if (content === undefined) return { problem: `${what} does not exist` };
  if (isAnother(spec, content))
    return {
      problem: `${what} was replaced by another one of that name`,
    };
  const text = content.status?.snapshotHandle ?? content.spec.source.snapshotHandle;
  if (text === undefined || content.status?.readyToUse !== true) {
    return { problem: `${what} is not ready to use` };
  }
  const handle = parseHandle(text);
  if ('problem' in handle) return { problem: `${what}: its snapshotHandle ${handle.problem}` };
  if (!handle.nodes.includes(node)) {
    return {
      problem: `${what} is on node ${handle.nodes.join(', ')}, but this Volume is on node ${node}`,
    };
  }
  const mode = content.spec.sourceVolumeMode === 'Block' ? 'Block' : 'Filesystem';
  const from = handleSource(handle, mode);
  return startFrom(spec, from);
}

function handleSource(handle: SnapshotHandle, mode: FileSource['mode']): FileSource | ThinSource {
  const what = 'snapshot';
  if (handle.type === 'file') return { what, mode, file: handle.path };
  const { vgName, name } = handle;
  return { what, mode, vgName, name, uid: snapshotUidOf(name) };
}

/**
 * Reports whether an object has the source's name but another UID: permission to start from one
 * does not cover the other.
 */
const isAnother = ({ source }: Volume['spec'], { metadata }: KubeObject): boolean =>
  source?.uid !== undefined && source.uid !== metadata.uid;

function startFrom(spec: Volume['spec'], from: FileSource | ThinSource): VolumeSource {
  const problem = driverOfSpec(spec).startProblem?.(spec, from);
  return problem === undefined ? { from } : { problem };
}

function fromVolume(
  { spec }: Volume,
  name: string,
  source: Volume | undefined,
  node: string,
): VolumeSource {
  const what = `Volume ${name}`;
  if (source === undefined) return { problem: `${what} does not exist` };
  if (isAnother(spec, source))
    return { problem: `${what} was replaced by another one of that name` };
  if (source.status?.prepared === undefined) return { problem: `${what} is not provisioned yet` };
  // The data may already be overwritten.
  if (source.metadata.deletionTimestamp !== undefined)
    return { problem: `${what} is being deleted` };
  const desired = desiredOf(source, undefined, node);
  const { asSource, label } = driverOf(desired);
  if (asSource === undefined) return { problem: `${what} is a ${label}, which cannot be a source` };
  if (isWrittenOnSeveral(source.spec)) {
    return {
      problem: `${what} is in a directory that several nodes share, and such volumes cannot be cloned. Copy its data in a pod`,
    };
  }
  const nodes = source.spec.attachableNodes ?? [source.status.prepared.node];
  if (!nodes.includes(node)) {
    return {
      problem: `${what} is on node ${nodes.join(', ')}, but this Volume is on node ${node}`,
    };
  }
  return startFrom(spec, asSource(desired));
}

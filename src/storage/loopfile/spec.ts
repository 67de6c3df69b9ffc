import { basename, dirname } from 'node:path';
import { isReadOnlyShared } from '../../api/access-modes.ts';
import { parseQuantity } from '../../api/quantity.ts';
import { SNAPSHOTS_DIRECTORY, type SnapshotHandle } from '../../api/snapshot-handle.ts';
import { directoryProblems, sizeProblems } from '../../api/spec-problems.ts';
import type { Volume, VolumeSpec } from '../../api/volume.ts';
import type { DesiredContext } from '../driver.ts';
import type { DesiredSparse, Source, ThinSource } from '../types.ts';
import { SPARSE_DIRECTORY } from './file.ts';

export function specProblems({ spec }: Volume): string[] {
  if (spec.sparseLoopDevice == null) return [];
  const { size, directory, requireMount } = spec.sparseLoopDevice;
  return [
    ...sizeProblems('sparseLoopDevice.size', size),
    ...(directory === undefined ? [] : directoryProblems('sparseLoopDevice.directory', directory)),
    ...(requireMount == null || typeof requireMount === 'boolean'
      ? []
      : [
          `spec.sparseLoopDevice.requireMount is ${JSON.stringify(requireMount)}, but must be true or false`,
        ]),
  ];
}

export const hasPlace = ({ sparseLoopDevice }: VolumeSpec): boolean =>
  sparseLoopDevice?.directory === undefined ||
  directoryProblems('sparseLoopDevice.directory', sparseLoopDevice.directory).length === 0;

export function desired({
  volume: { spec, status, metadata },
  common,
  node,
  path,
  sizeBytes,
  from,
  isForClaim,
}: DesiredContext): DesiredSparse {
  // A single node shares it with no other.
  const shared = (spec.attachableNodes?.length ?? 0) > 1;
  return {
    ...common,
    type: 'sparse',
    ...(isForClaim && !common.recorded ? { once: true } : {}),
    ...(metadata.deletionTimestamp !== undefined && common.onDelete === 'Delete'
      ? { discarded: true }
      : {}),
    onDemand: spec.attachPolicy === 'OnDemand',
    readOnly: isReadOnlyShared(spec),
    shared,
    ...(spec.sparseLoopDevice?.requireMount === true ? { requireMount: true } : {}),
    source: from !== undefined && 'file' in from ? from : undefined,
    ...recordedBytes(shared && common.recorded ? status?.capacity : undefined),
    owner: shared ? { node, token: `v${status?.attempt ?? 0}` } : undefined,
    file: path ?? `${directoryOf(spec)}/${metadata.uid}`,
    sizeBytes,
  };
}

const directoryOf = ({ sparseLoopDevice }: VolumeSpec): string =>
  sparseLoopDevice?.directory ?? SPARSE_DIRECTORY;

/** Returns the recorded size; nothing for a text that is no size. */
function recordedBytes(capacity: string | undefined): { recordedBytes?: bigint } {
  try {
    return capacity === undefined ? {} : { recordedBytes: parseQuantity(capacity) };
  } catch {
    return {};
  }
}

export const describe = ({ sparseLoopDevice }: VolumeSpec): [string, string | undefined][] => [
  ['Directory', sparseLoopDevice?.directory],
  ['Requires a mount', sparseLoopDevice?.requireMount ? 'true' : undefined],
];

export const summarize = (spec: VolumeSpec): string =>
  `a file of ${spec.sparseLoopDevice?.size} in ${directoryOf(spec)}`;

export const roomCommand = (spec: VolumeSpec): string[] => ['df', '-h', directoryOf(spec)];

export const pool = (_spec: VolumeSpec, path: string | undefined): string | undefined =>
  path === undefined ? undefined : dirname(path);

export const specAt = (spec: VolumeSpec, path: string): VolumeSpec =>
  spec.sparseLoopDevice == null
    ? spec
    : { ...spec, sparseLoopDevice: { ...spec.sparseLoopDevice, directory: dirname(path) } };

/** Reports whether the path ends with the Volume's UID, the name of its file. */
export const isPlaceOf = ({ metadata }: Volume, path: string): boolean =>
  basename(path) === metadata.uid;

export const holdsData = (_spec: VolumeSpec, path: string | undefined) => ({
  what: path === undefined ? 'its file' : `its file ${path}`,
  own: true,
});

export const startProblem = (_spec: VolumeSpec, from: Source | ThinSource): string | undefined =>
  'file' in from
    ? undefined
    : 'its source is a logical volume, and a sparse file can only be created from a file';

/**
 * Returns the volume as a source. Writes of its pods are blocked no longer than for a snapshot. If
 * its file system cannot clone files, the volume must be unused.
 */
export const asSource = ({ file, mode }: DesiredSparse): Source => ({
  ...{ what: 'volume', file, mode },
  freeze: { seconds: 10, copy: false },
});

/** Places the snapshot in a directory beside the file. */
export const snapshotPlace = (
  { file }: DesiredSparse,
  nodes: readonly string[],
  contentUid: string,
): SnapshotHandle => ({
  ...{ type: 'file', nodes },
  path: `${dirname(file)}/${SNAPSHOTS_DIRECTORY}/${contentUid}`,
});

import type { PersistentVolumeClaim } from '../../../api/core.ts';
import { StowageError } from '../../../api/errors.ts';
import { parseQuantity } from '../../../api/quantity.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
} from '../../../api/resources.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../../api/snapshot.ts';
import type { KubeClient } from '../../../kube/types.ts';
import type { Io } from '../../lib/io.ts';
import { printable } from '../../lib/output/printable.ts';
import { foundIn, readNamed } from '../../lib/read-result.ts';

/** Known properties of a snapshot to restore. */
export interface Origin {
  sizeBytes?: bigint;
  /** Class of the claim that the snapshot was taken of. */
  storageClassName?: string;
  volumeMode?: string;
  /** Reason why the size is unknown. */
  unknown?: string;
}

/**
 * Reads as much as the user may. Throws a StowageError `not-found` for a missing snapshot, unless
 * the size is given: a claim may precede its snapshot.
 */
export async function originOf(
  { namespace, name }: { namespace: string; name: string },
  sizeGiven: boolean,
  io: Io,
  client: KubeClient,
): Promise<Origin> {
  const what = `VolumeSnapshot ${namespace}/${name}`;
  const options = { namespace, signal: io.signal };
  const read = await readNamed<VolumeSnapshot>(client, VOLUME_SNAPSHOTS, name, options);
  if ('forbidden' in read) return { unknown: `you may not read ${what}` };
  if ('absent' in read) {
    if (!sizeGiven) {
      throw new StowageError('not-found', `${what} does not exist`, {
        hint: 'Set --size to create a claim that waits for it.',
        object: { kind: VOLUME_SNAPSHOTS.kind, namespace, name },
      });
    }
    io.stderr.write(printable(`note: there is no ${what} yet\n`));
    return {};
  }
  const { spec, status } = read.found;
  const content = foundIn(
    await readNamed<VolumeSnapshotContent>(
      client,
      VOLUME_SNAPSHOT_CONTENTS,
      status?.boundVolumeSnapshotContentName,
      { signal: io.signal },
    ),
  );
  const claim = foundIn(
    await readNamed<PersistentVolumeClaim>(
      client,
      PERSISTENT_VOLUME_CLAIMS,
      spec.source.persistentVolumeClaimName,
      options,
    ),
  );
  const size =
    content?.status?.restoreSize ?? status?.restoreSize ?? claim?.status?.capacity?.storage;
  const storageClassName = claim?.spec.storageClassName;
  const volumeMode = content?.spec.sourceVolumeMode ?? claim?.spec.volumeMode;
  return {
    ...(size === undefined
      ? { unknown: `${what} is not ready yet` }
      : { sizeBytes: parseQuantity(size) }),
    ...(storageClassName ? { storageClassName } : {}),
    ...(volumeMode ? { volumeMode } : {}),
  };
}

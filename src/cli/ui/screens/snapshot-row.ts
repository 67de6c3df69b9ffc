import type { VolumeSnapshot } from '../../../api/snapshot.ts';
import type { SnapshotRow } from '../../../ui/protocol.ts';
import { phaseOf } from '../../lib/objects/snapshot-state.ts';
import { readableSize } from '../../lib/output/size.ts';
import { publicMessage, publicName, publicPair, publicTime } from '../public-text.ts';
import { bytesOf, versionOf } from '../rows.ts';

/** Returns the row of a VolumeSnapshot: named fields only, as safe texts. Pure. */
export function snapshotRow(snapshot: VolumeSnapshot): SnapshotRow {
  const { metadata, spec, status } = snapshot;
  const { persistentVolumeClaimName: claim, volumeSnapshotContentName } = spec.source;
  const size = status?.restoreSize;
  return {
    name: publicPair(metadata.namespace, metadata.name),
    phase: phaseOf(snapshot),
    size: size === undefined ? '' : publicName(readableSize(size)),
    bytes: bytesOf(size),
    snapshotClass: publicName(spec.volumeSnapshotClassName),
    claim: claim === undefined ? '' : publicPair(metadata.namespace, claim),
    content: publicName(volumeSnapshotContentName),
    taken: publicTime(status?.creationTime),
    created: publicTime(metadata.creationTimestamp),
    message: publicMessage(status?.error?.message),
    version: versionOf(snapshot),
  };
}

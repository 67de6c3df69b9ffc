import type { PersistentVolumeClaim } from '../../../api/core.ts';
import { dataSourceOf } from '../../../model/data-source/data-source.ts';
import { sourceReference } from '../../../model/data-source/reference.ts';
import type { ClaimRow, VolumeRow } from '../../../ui/protocol.ts';
import { readableSize } from '../../lib/output/size.ts';
import { publicName, publicPair, publicTime } from '../public-text.ts';
import { bytesOf, versionOf } from '../rows.ts';

/**
 * Returns the row of a claim: named fields only, as safe texts. Pure.
 * @param volume row of its Volume, if there is one
 */
export function claimRow(claim: PersistentVolumeClaim, volume: VolumeRow | undefined): ClaimRow {
  const { metadata, spec, status } = claim;
  const size = status?.capacity?.storage ?? spec.resources?.requests?.storage;
  const source = sourceReference(claim);
  return {
    name: publicPair(metadata.namespace, metadata.name),
    phase: publicName(
      metadata.deletionTimestamp === undefined ? (status?.phase ?? 'Pending') : 'Terminating',
    ),
    storageClass: publicName(spec.storageClassName),
    size: size === undefined ? '' : publicName(readableSize(size)),
    bytes: bytesOf(size),
    volume: volume?.name ?? '',
    sourceKind: publicName(source?.kind),
    sourceName: source === undefined ? '' : publicPair(source.namespace, source.name),
    reason: publicName(reasonOf(claim, volume)),
    created: publicTime(metadata.creationTimestamp),
    version: versionOf(claim),
  };
}

/** Returns why a claim is not ready, as far as objects of the feed tell: `why` tells the rest. */
function reasonOf(
  { metadata, spec, status }: PersistentVolumeClaim,
  volume: VolumeRow | undefined,
): string | undefined {
  if (dataSourceOf({ metadata, spec }, { crossNamespace: true }).kind === 'dropped')
    return 'SourceDropped';
  if (volume !== undefined && volume.ready !== '' && volume.ready !== 'True') return volume.reason;
  // Conditions of claims are about growth.
  return status?.conditions?.find((each) => each.status === 'True')?.type;
}

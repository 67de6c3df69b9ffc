import type { PersistentVolumeClaim } from '../../api/core.ts';
import { POPULATOR_EVENT } from '../../api/names.ts';
import type { SourceKind } from '../../api/populator.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import { isSameKind, isStandard, sourceReference } from '../../model/data-source/reference.ts';

/**
 * Lease of the standard volume-data-source-validator, and the label of its pods in its manifests: a
 * StatefulSet there, without leader election. They count in its namespace only, and in the
 * daemon's: anyone who may create pods or Leases elsewhere could otherwise silence the events.
 */
export const VALIDATOR_LEASE = 'data-source-validator-leader';
export const VALIDATOR_PODS = 'app=volume-data-source-validator';
export const VALIDATOR_NAMESPACE = 'kube-system';

/** Class of a claim's data source, as in the metric of volume-data-source-validator. */
export type DataSourceClass = 'empty' | 'pvc' | 'snapshot' | 'populator' | 'invalid';

/** Classifies the data source of a claim. `registered`: kinds of the VolumePopulators. Pure. */
export function classifyDataSource(
  claim: Pick<PersistentVolumeClaim, 'metadata' | 'spec'>,
  registered: readonly SourceKind[],
): DataSourceClass {
  const source = sourceReference(claim);
  if (source === undefined) return 'empty';
  if (isStandard(source)) return source.group === '' ? 'pvc' : 'snapshot';
  return registered.some((kind) => isSameKind(kind, source)) ? 'populator' : 'invalid';
}

/**
 * Returns the event for a verdict; undefined if none is due, as for a bound or deleted claim. Pure.
 */
export function eventFor(
  { metadata, spec }: Pick<PersistentVolumeClaim, 'metadata' | 'spec'>,
  verdict: DataSourceClass,
): (Explanation & { reason: string }) | undefined {
  if (verdict !== 'invalid' || spec.volumeName || metadata.deletionTimestamp !== undefined)
    return undefined;
  return { reason: POPULATOR_EVENT.unrecognized, ...explain('DataSourceUnrecognized') };
}

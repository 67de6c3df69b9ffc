import type { PersistentVolumeClaim } from '../../api/core.ts';
import { POPULATOR_EVENT } from '../../api/names.ts';
import type { SourceKind } from '../../api/populator.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import { isSameKind, isStandard, sourceReference } from '../../model/data-source/reference.ts';

/** What a claim names as its data source, as volume-data-source-validator's metric calls it. */
export type DataSourceClass = 'empty' | 'pvc' | 'snapshot' | 'populator' | 'invalid';

/** Whether somebody fills volumes from what a claim names; `registered`: the kinds of VolumePopulators. Pure. */
export function classifyDataSource(
  claim: Pick<PersistentVolumeClaim, 'metadata' | 'spec'>,
  registered: readonly SourceKind[],
): DataSourceClass {
  const source = sourceReference(claim);
  if (source === undefined) return 'empty';
  if (isStandard(source)) return source.group === '' ? 'pvc' : 'snapshot';
  return registered.some((kind) => isSameKind(kind, source)) ? 'populator' : 'invalid';
}

/** What to tell of a verdict; undefined where nothing is, as of a claim that has its volume or goes. Pure. */
export function toTell(
  { metadata, spec }: Pick<PersistentVolumeClaim, 'metadata' | 'spec'>,
  verdict: DataSourceClass,
): (Explanation & { reason: string }) | undefined {
  if (verdict !== 'invalid' || spec.volumeName || metadata.deletionTimestamp !== undefined)
    return undefined;
  return { reason: POPULATOR_EVENT.unrecognized, ...explain('DataSourceUnrecognized') };
}

import type { PersistentVolumeClaim } from '../../api/core.ts';
import { SNAPSHOT_GROUP } from '../../api/names.ts';
import type { SourceKind } from '../../api/populator.ts';

/** The data source that a claim names. */
export interface SourceReference extends SourceKind {
  /** The claim's own where the reference names none. */
  namespace: string;
  name: string;
  /** The reference names another namespace than the claim's. */
  crossNamespace: boolean;
}

/**
 * Returns what a claim names in `dataSourceRef`, else in `dataSource`, which alone an old API server sets; undefined for a
 * claim that starts empty. Pure.
 */
export function sourceReference({
  metadata,
  spec,
}: Pick<PersistentVolumeClaim, 'metadata' | 'spec'>): SourceReference | undefined {
  const reference = spec.dataSourceRef ?? spec.dataSource;
  if (reference == null) return undefined;
  const own = metadata.namespace ?? '';
  const namespace = reference.namespace || own;
  return {
    group: reference.apiGroup ?? '',
    kind: reference.kind,
    name: reference.name,
    namespace,
    crossNamespace: namespace !== own,
  };
}

/** Reports whether a kind is cloned or restored by provisioners, so that no populator fills volumes from it. */
export function isStandard({ group, kind }: SourceKind): boolean {
  return (
    (group === '' && kind === 'PersistentVolumeClaim') ||
    (group === SNAPSHOT_GROUP && kind === 'VolumeSnapshot')
  );
}

export const isSameKind = (a: SourceKind, b: SourceKind): boolean =>
  a.group === b.group && a.kind === b.kind;

import type { PersistentVolumeClaim } from '../../api/core.ts';
import { SNAPSHOT_GROUP } from '../../api/names.ts';
import type { SourceKind } from '../../api/populator.ts';

/** The data source that a claim names. */
export interface SourceReference extends SourceKind {
  /** Namespace of the data source, by default the claim's own. */
  namespace: string;
  name: string;
  /** True if the data source is in another namespace than the claim. */
  crossNamespace: boolean;
}

/**
 * Returns the data source in `dataSourceRef`, else in `dataSource`, which alone an old API server
 * sets; undefined for a claim that starts empty. Pure.
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

/** Reports whether provisioners clone or restore a kind, so that no populator fills from it. */
export function isStandard({ group, kind }: SourceKind): boolean {
  return (
    (group === '' && kind === 'PersistentVolumeClaim') ||
    (group === SNAPSHOT_GROUP && kind === 'VolumeSnapshot')
  );
}

export const isSameKind = (a: SourceKind, b: SourceKind): boolean =>
  a.group === b.group && a.kind === b.kind;

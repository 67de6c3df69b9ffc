import type { PersistentVolumeClaim } from '../../api/core.ts';
import { SNAPSHOT_GROUP } from '../../api/names.ts';
import { droppedSource } from './dropped-data-source.ts';
import { sourceReference } from './reference.ts';

/** Data source of a claim. Another claim or snapshot may be in another namespace. */
export type DataSource =
  | { kind: 'none' }
  | { kind: 'claim'; namespace: string; name: string }
  | { kind: 'snapshot'; namespace: string; name: string; from: 'PersistentVolumeClaim' }
  | { kind: 'link'; namespace: string; name: string }
  /** Kind for populators, including Stowage's own. */
  | { kind: 'other'; group: string; objectKind: string; namespace: string; name: string }
  /** Source that the API server dropped: a provisioned volume would be empty. */
  | { kind: 'dropped'; objectKind: string; namespace: string; name: string }
  /** Source in another namespace while the gate is off. */
  | { kind: 'gate-off'; objectKind: string; namespace: string; name: string };

export interface SourceGates {
  /** True if dataSourceRef may name other namespaces. Links need no gate. */
  crossNamespace: boolean;
  /** True, the default, to follow VolumeSnapshotLinks; false to leave them to another populator. */
  links?: boolean | undefined;
}

/**
 * Returns the data source that a claim requests: `dataSourceRef`, else `dataSource`, which alone an
 * old API server sets. With the gate `crossNamespace` off, sources in other namespaces are not
 * followed. The claim's own namespace, written out, counts as its own. Pure.
 */
export function dataSourceOf(
  { metadata, spec }: Pick<PersistentVolumeClaim, 'metadata' | 'spec'>,
  { crossNamespace, links = true }: SourceGates,
): DataSource {
  const reference = sourceReference({ metadata, spec });
  if (reference === undefined) {
    const dropped = droppedSource({ metadata, spec });
    if (dropped === undefined) return { kind: 'none' };
    const namespace = dropped.namespace || (metadata.namespace ?? '');
    return { kind: 'dropped', objectKind: dropped.kind, namespace, name: dropped.name };
  }
  const { group, kind: objectKind, namespace, name } = reference;
  const kind = kindOf(group, objectKind);
  if (kind === undefined || (kind === 'link' && !links))
    return { kind: 'other', group, objectKind, namespace, name };
  if (reference.crossNamespace && !crossNamespace)
    return { kind: 'gate-off', objectKind, namespace, name };
  return kind === 'snapshot'
    ? { kind, namespace, name, from: 'PersistentVolumeClaim' }
    : { kind, namespace, name };
}

function kindOf(group: string, kind: string): 'claim' | 'snapshot' | 'link' | undefined {
  if (group === '' && kind === 'PersistentVolumeClaim') return 'claim';
  if (group !== SNAPSHOT_GROUP) return undefined;
  if (kind === 'VolumeSnapshot') return 'snapshot';
  return kind === 'VolumeSnapshotLink' ? 'link' : undefined;
}

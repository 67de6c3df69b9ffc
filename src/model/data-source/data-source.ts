import type { PersistentVolumeClaim } from '../../api/core.ts';
import { SNAPSHOT_GROUP } from '../../api/names.ts';
import { droppedSource } from './dropped-data-source.ts';
import { sourceReference } from './reference.ts';

/** What a claim is to start from. A namespace of another claim or snapshot may be another one than the claim's. */
export type DataSource =
  | { kind: 'none' }
  | { kind: 'claim'; namespace: string; name: string }
  | { kind: 'snapshot'; namespace: string; name: string; from: 'PersistentVolumeClaim' }
  | { kind: 'link'; namespace: string; name: string }
  /** A kind that populators are for, Stowage's own among them. */
  | { kind: 'other'; group: string; objectKind: string; namespace: string; name: string }
  /** It was to have one, and the API server dropped it: what is made for it would be empty. */
  | { kind: 'dropped'; objectKind: string; namespace: string; name: string }
  /** Names another namespace while that is switched off. */
  | { kind: 'gate-off'; objectKind: string; namespace: string; name: string };

/** Gates for data sources beside those in the claim's namespace. */
export interface SourceGates {
  /** Whether other namespaces may be named in dataSourceRef. Links need no gate. */
  crossNamespace: boolean;
  /** Whether VolumeSnapshotLinks are followed; undefined: they are. Else they are for another populator. */
  links?: boolean | undefined;
}

/**
 * What a claim asks to start from. `dataSourceRef` is what counts, and `dataSource` where an API server of old left it alone.
 * With the gate `crossNamespace` off, what names another namespace is not followed. Its own namespace, written out, is not another one. Pure.
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

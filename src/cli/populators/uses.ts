import type { PersistentVolumeClaim } from '../../api/core.ts';
import { POPULATE_FINALIZER } from '../../api/names.ts';
import type { SourceKind } from '../../api/populator.ts';
import { isSameKind, sourceReference } from '../../model/data-source/reference.ts';

/** Claim that names an object of a kind as its source. */
export interface PopulatorUse {
  namespace: string;
  name: string;
  /** Name of the source, with its namespace if that is another one. */
  source: string;
  phase: string;
  /** The claim waits to be populated. */
  waits: boolean;
}

/** Returns the claims that name objects of a kind. Pure. */
export function usesOf(claims: readonly PersistentVolumeClaim[], kind: SourceKind): PopulatorUse[] {
  return claims.flatMap((claim) => {
    const source = sourceReference(claim);
    if (source === undefined || !isSameKind(source, kind)) return [];
    const { namespace = '', name, finalizers = [] } = claim.metadata;
    return [
      {
        namespace,
        name,
        source: source.crossNamespace ? `${source.namespace}/${source.name}` : source.name,
        phase: claim.status?.phase ?? 'Pending',
        waits: !claim.spec.volumeName || finalizers.includes(POPULATE_FINALIZER),
      },
    ];
  });
}

import type { PersistentVolume } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import { parseQuantity } from '../../api/quantity.ts';
import type { StoredObject } from '../kind.ts';

export interface StoredClaim extends StoredObject {
  spec: {
    accessModes: string[];
    resources: { requests?: { storage?: string } };
    storageClassName?: string;
    volumeMode?: string;
    volumeName?: string;
  };
  status?: { phase?: string };
}

export type Volume = PersistentVolume & StoredObject;

/** Annotation that the scheduler sets on a claim. Without a scheduler, it can be set by hand. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';

interface Affinity {
  required?: { nodeSelectorTerms: { matchExpressions?: Requirement[] }[] };
}
interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

/** Reports whether a volume has the class, mode, access modes and size that a claim requests. */
export function fits({ spec: volume }: PersistentVolume, { spec: claim }: StoredClaim): boolean {
  return (
    (volume.storageClassName ?? '') === (claim.storageClassName ?? '') &&
    volume.volumeMode === claim.volumeMode &&
    claim.accessModes.every((mode) => volume.accessModes.includes(mode)) &&
    parseQuantity(volume.capacity.storage) >=
      parseQuantity(claim.resources.requests?.storage ?? '0')
  );
}

const size = ({ spec }: Volume) => parseQuantity(spec.capacity.storage);

export function smallestFirst(a: Volume, b: Volume): number {
  return size(a) < size(b) ? -1 : size(a) > size(b) ? 1 : 0;
}

/**
 * Reports whether a volume's claimRef names a claim. Without a UID, the claimRef reserves the
 * volume for any claim of that name.
 */
export function refersTo({ spec: { claimRef } }: Volume, { metadata }: StoredClaim): boolean {
  return (
    claimRef?.namespace === metadata.namespace &&
    claimRef?.name === metadata.name &&
    (claimRef?.uid === undefined || claimRef.uid === metadata.uid)
  );
}

/**
 * Reports whether pods on a node can use a volume. Supports only the operator
 * `In`, which local volumes use.
 */
export function reaches(volume: PersistentVolume, node: KubeObject | undefined): boolean {
  const terms = (volume.spec.nodeAffinity as Affinity | undefined)?.required?.nodeSelectorTerms;
  if (terms === undefined) return true;
  return terms.some((term) =>
    (term.matchExpressions ?? []).every(
      ({ key, operator, values }) =>
        operator === 'In' && values?.includes(node?.metadata.labels?.[key] ?? '') === true,
    ),
  );
}

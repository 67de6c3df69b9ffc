import type { PersistentVolume } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import { parseQuantity } from '../../api/quantity.ts';
import type { StoredObject } from '../kind.ts';

export interface Claim extends StoredObject {
  spec: {
    accessModes: string[];
    resources: { requests?: { storage?: string } };
    storageClassName?: string;
    volumeMode?: string;
    volumeName?: string;
  };
  status?: { phase?: string };
}

interface Affinity {
  required?: { nodeSelectorTerms: { matchExpressions?: Requirement[] }[] };
}
interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

/** Whether a volume has the class, mode, access modes and size that a claim asks for. */
export function fits({ spec: volume }: PersistentVolume, { spec: claim }: Claim): boolean {
  return (
    (volume.storageClassName ?? '') === (claim.storageClassName ?? '') &&
    volume.volumeMode === claim.volumeMode &&
    claim.accessModes.every((mode) => volume.accessModes.includes(mode)) &&
    parseQuantity(volume.capacity.storage) >= parseQuantity(claim.resources.requests?.storage ?? '0')
  );
}

/** Whether pods on a node can use a volume; of the operators only `In`, which local volumes use. */
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

import type { PersistentVolumeClaim } from '../../api/core.ts';
import { dataSourceOf } from '../../model/data-source/data-source.ts';
import type { Provisioned } from './types.ts';

/**
 * Returns the metric labels of a claim. `crossNamespace` is about its own reference: a link counts
 * as a link, wherever it leads.
 */
export function kindOf(claim: PersistentVolumeClaim): Provisioned {
  const source = dataSourceOf(claim, { crossNamespace: true });
  const { namespace } = claim.metadata;
  const named = claim.spec.dataSourceRef?.namespace;
  const known = source.kind === 'snapshot' || source.kind === 'claim' || source.kind === 'link';
  return {
    storageClass: claim.spec.storageClassName ?? '',
    source: known ? source.kind : 'none',
    crossNamespace: named !== undefined && named !== null && named !== '' && named !== namespace,
  };
}

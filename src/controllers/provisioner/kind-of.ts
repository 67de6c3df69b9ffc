import type { PersistentVolumeClaim } from '../../api/core.ts';
import { dataSourceOf } from '../../model/data-source/data-source.ts';
import type { Provisioned } from './types.ts';

/** Across namespaces is what names one itself: a link is counted as one, whatever it leads to. */
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

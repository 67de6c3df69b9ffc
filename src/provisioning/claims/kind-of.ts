import type { PersistentVolumeClaim } from '../../api/core.ts';
import { sourceOf } from '../sources/source-of.ts';
import type { Provisioned } from './types.ts';

/** A link is there to lead to another namespace; where it does not, that is known once it may be followed. */
export function kindOf(claim: PersistentVolumeClaim): Provisioned {
  const source = sourceOf(claim, { crossNamespace: true });
  const known = source.kind === 'snapshot' || source.kind === 'claim' || source.kind === 'link';
  return {
    storageClass: claim.spec.storageClassName ?? '',
    source: known ? source.kind : 'none',
    crossNamespace:
      source.kind === 'link' || (known && source.namespace !== (claim.metadata.namespace ?? '')),
  };
}

import { Counter, Histogram, type Registry } from 'prom-client';
import type { Provisioned } from '../../controllers/provisioner/types.ts';
import { label } from './label.ts';

export interface ClaimMetrics {
  onProvisioned(end: Provisioned): void;
}

/**
 * Registers metrics of claims that were provisioned or failed, by class and source, and the two of
 * KEP-3294.
 */
export function claimMetrics(registry: Registry): ClaimMetrics {
  const registers = [registry];
  const claims = new Counter({
    registers,
    name: 'stowage_claims_total',
    help: 'Claims bound to a volume provisioned for them, and failed attempts to provision one.',
    labelNames: ['class', 'source', 'result'],
  });
  const durations = new Histogram({
    registers,
    name: 'stowage_claim_seconds',
    help: 'Time from the creation of the Volume of a claim until the claim was bound.',
    labelNames: ['class', 'source'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
  });
  // KEP-3294 defines these names, which follow its own conventions.
  const made = new Counter({
    registers,
    name: 'cross_namespace_persistentvolumeclaim_provision_total',
    help: 'Volumes provisioned from a data source in another namespace.',
    labelNames: ['storage_class'],
  });
  const failed = new Counter({
    registers,
    name: 'cross_namespace_persistentvolumeclaim_provision_failed_total',
    help: 'Failed attempts to provision a volume from a data source in another namespace.',
    labelNames: ['storage_class'],
  });

  return {
    onProvisioned({ storageClass, source, crossNamespace, ms }) {
      const name = label(storageClass);
      const result = ms === undefined ? 'failed' : 'succeeded';
      claims.inc({ class: name, source, result });
      if (ms !== undefined) durations.observe({ class: name, source }, ms / 1000);
      if (crossNamespace) (ms === undefined ? failed : made).inc({ storage_class: name });
    },
  };
}

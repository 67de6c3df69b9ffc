import { CONTROLLERS } from '../../src/api/controllers.ts';
import type { Lease } from '../../src/api/core.ts';
import { type Leader, leaderAnnotations } from '../../src/api/leader.ts';

/** Properties of a daemon with default options. */
export const LEADER: Leader = {
  version: '0.1.0',
  featureGates: { CrossNamespaceVolumeDataSource: false },
  links: true,
  controllers: CONTROLLERS,
  transport: 'ssh',
};

/**
 * Returns the Lease of a daemon that leads now, and for longer than any test takes. See
 * `leadingLease`.
 */
export const heldLease = (leader?: Partial<Leader> | null, name?: string): Lease => {
  const lease = leadingLease(Date.now(), leader, name);
  return { ...lease, spec: { ...lease.spec, leaseDurationSeconds: 3600 } };
};

/**
 * Returns the Lease of a daemon that leads at a time (ms since the epoch). With null, the daemon
 * does not publish its properties.
 */
export const leadingLease = (
  now: number,
  leader: Partial<Leader> | null = {},
  name = 'stowage',
): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: {
    name,
    namespace: 'default',
    ...(leader && { annotations: leaderAnnotations({ ...LEADER, ...leader }) }),
  },
  spec: {
    holderIdentity: 'host_1',
    leaseDurationSeconds: 15,
    renewTime: new Date(now).toISOString().replace('Z', '000Z'),
  },
});

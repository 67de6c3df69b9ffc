import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { Resource } from '../../src/api/meta.ts';
import { type ClaimsCluster, startClaimsCluster } from './claims-cluster.ts';

/**
 * Starts one cluster for all tests of a file. After each test, objects of the kinds `emptied` are
 * deleted.
 */
export function sharedClaimsCluster(
  options: Parameters<typeof startClaimsCluster>[0],
  ...emptied: Resource[]
): ClaimsCluster {
  const cluster = {} as ClaimsCluster;
  beforeAll(async () => {
    Object.assign(cluster, await startClaimsCluster(options));
  });
  afterEach(() => cluster.empty(...emptied));
  afterAll(() => cluster.stop());
  return cluster;
}

import type { KubeObject } from '../../../src/api/meta.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  REFERENCE_GRANTS,
  VOLUME_SNAPSHOT_LINKS,
  VOLUME_SNAPSHOTS,
} from '../../../src/api/resources.ts';
import type { ReferenceGrant } from '../../../src/api/snapshot.ts';
import { nameFor } from '../../../src/cli/grants/manifest.ts';
import { sharedClaimsCluster } from '../../support/shared-claims-cluster.ts';
import { fresh } from '../../support/snapshots.ts';

export const NAME = nameFor({ snapshot: 'foo-backup', to: 'test' });
export const FULL = `referencegrant.gateway.networking.k8s.io/${NAME}`;

/**
 * Starts a cluster whose API server keeps namespaces of data sources, and reads the objects that
 * commands create.
 */
export function grantsScene() {
  const kinds = [
    REFERENCE_GRANTS,
    VOLUME_SNAPSHOTS,
    VOLUME_SNAPSHOT_LINKS,
    PERSISTENT_VOLUME_CLAIMS,
  ];
  const cluster = sharedClaimsCluster({ crossNamespace: true }, ...kinds);
  return {
    cluster,
    stowage: (line: string) => cluster.stowage(line.split(' ')),
    grants: async (namespace = 'prod') =>
      (await cluster.client.list<ReferenceGrant>(REFERENCE_GRANTS, { namespace })).items,
    make: <T extends KubeObject>(resource: typeof REFERENCE_GRANTS, object: T) =>
      cluster.client.create(resource, fresh(object)),
  };
}

import type { ReferenceGrant } from '../../../api/snapshot.ts';
import { listAll } from '../../../kube/client.ts';
import { type Reading, reading } from '../../lib/read-result.ts';
import type { Cluster } from '../explain.ts';

/** Reads the ReferenceGrants of a namespace: none if the cluster does not know the kind. */
export async function readGrants(
  { client, grants }: Cluster,
  namespace: string,
  signal: AbortSignal,
): Promise<Reading<ReferenceGrant[]>> {
  const resource = await grants();
  if (resource === undefined) return { found: [] };
  const list = listAll<ReferenceGrant>(client, resource, { namespace, signal });
  return reading(list.then(({ items }) => items));
}

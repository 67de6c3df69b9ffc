import { isDnsSubdomain } from '../../api/dns-name.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOT_LINKS,
  VOLUME_SNAPSHOTS,
} from '../../api/resources.ts';
import type { ReferenceGrant } from '../../api/snapshot.ts';
import { listAll } from '../../kube/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { SourceReads } from './resolve.ts';

/**
 * Reads of the API server. A kind that it does not serve has no objects, and a name that can be none of an object is asked for by
 * nobody. Whatever else it answers with is thrown.
 * @param grants the kind ReferenceGrant in the version that is served; undefined: in none
 */
export function liveReads(
  client: Pick<KubeClient, 'get' | 'list'>,
  grants: Resource | undefined,
  signal?: AbortSignal,
): SourceReads {
  const get = async <T extends KubeObject>(
    resource: Resource,
    name: string,
    namespace?: string,
  ): Promise<T | undefined> => {
    if (!isDnsSubdomain(name) || (namespace !== undefined && !isDnsSubdomain(namespace))) return undefined;
    try {
      return await client.get<T>(resource, name, { namespace, signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  return {
    snapshot: (namespace, name) => get(VOLUME_SNAPSHOTS, name, namespace),
    content: (name) => get(VOLUME_SNAPSHOT_CONTENTS, name),
    link: (namespace, name) => get(VOLUME_SNAPSHOT_LINKS, name, namespace),
    claim: (namespace, name) => get(PERSISTENT_VOLUME_CLAIMS, name, namespace),
    persistentVolume: (name) => get(PERSISTENT_VOLUMES, name),
    async grants(namespace) {
      if (grants === undefined || !isDnsSubdomain(namespace)) return [];
      try {
        return (await listAll<ReferenceGrant>(client, grants, { namespace, signal })).items;
      } catch (error) {
        if (isNotFound(error)) return [];
        throw error;
      }
    },
  };
}

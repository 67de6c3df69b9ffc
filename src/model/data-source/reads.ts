import { isDnsSubdomain } from '../../api/dns-name.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import type { PopulatorDefinition, VolumePopulator } from '../../api/populator.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  POPULATOR_DEFINITIONS,
  VOLUME_POPULATORS,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOT_LINKS,
  VOLUME_SNAPSHOTS,
} from '../../api/resources.ts';
import type { ReferenceGrant } from '../../api/snapshot.ts';
import { listAll } from '../../kube/client.ts';
import { ApiError, ignoreNotFound, isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { BuiltinReads } from './builtin.ts';
import type { SourceReads } from './resolve.ts';

/** Returns the part of a grant that is read. Its owner can fill the rest up to the size limit. */
const granted = ({ apiVersion, kind, metadata, spec }: ReferenceGrant): ReferenceGrant => {
  const { name, namespace, deletionTimestamp } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec,
  };
};

/**
 * Creates reads of the API server. A kind that it does not serve has no objects. An object with an
 * impossible name is absent without a request. Other errors are thrown.
 * @param grants versions of ReferenceGrant, of which the first served one is read: all have the
 * same objects
 */
export function liveReads(
  client: Pick<KubeClient, 'get' | 'list'>,
  grants: readonly Resource[],
  signal?: AbortSignal,
): SourceReads & BuiltinReads {
  const get = async <T extends KubeObject>(
    resource: Resource,
    name: string,
    namespace?: string,
  ): Promise<T | undefined> => {
    if (!isDnsSubdomain(name) || (namespace !== undefined && !isDnsSubdomain(namespace)))
      return undefined;
    return ignoreNotFound(client.get<T>(resource, name, { namespace, signal }));
  };
  async function all<T extends KubeObject>(resource: Resource): Promise<T[]> {
    try {
      return (await listAll<T>(client, resource, { signal })).items;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return [];
    }
  }
  return {
    snapshot: (namespace, name) => get(VOLUME_SNAPSHOTS, name, namespace),
    content: (name) => get(VOLUME_SNAPSHOT_CONTENTS, name),
    link: (namespace, name) => get(VOLUME_SNAPSHOT_LINKS, name, namespace),
    claim: (namespace, name) => get(PERSISTENT_VOLUME_CLAIMS, name, namespace),
    persistentVolume: (name) => get(PERSISTENT_VOLUMES, name),
    async grants(namespace) {
      if (!isDnsSubdomain(namespace)) return [];
      for (const served of grants) {
        try {
          return (await listAll<ReferenceGrant>(client, served, { namespace, signal }, granted))
            .items;
        } catch (error) {
          if (!isNotFound(error)) throw error;
        }
      }
      return [];
    },
    volumePopulators: () => all<VolumePopulator>(VOLUME_POPULATORS),
    definitions: () => all<PopulatorDefinition>(POPULATOR_DEFINITIONS),
    async object(resource, namespace, name) {
      if (!isDnsSubdomain(name) || !isDnsSubdomain(namespace)) return { found: undefined };
      try {
        return { found: await client.get<KubeObject>(resource, name, { namespace, signal }) };
      } catch (error) {
        if (error instanceof ApiError && error.statusCode === 403) return { forbidden: true };
        if (!isNotFound(error)) throw error;
        // A missing object names itself; a missing kind does not.
        return error.status.details?.name === undefined ? { missing: true } : { found: undefined };
      }
    },
  };
}

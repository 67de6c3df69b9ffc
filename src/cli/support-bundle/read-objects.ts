import type { KubeNode } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import { NODES, REFERENCE_GRANTS } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import type { Connection } from '../../kube/connect.ts';
import { servedGrants } from '../lib/objects/grant-kinds.ts';
import { LISTED, type Objects, objectsOf, servedObjects } from './kinds.ts';
import type { Parts } from './parts.ts';

export const pathOf = ({ plural }: Pick<Resource, 'plural'>): string => `objects/${plural}.json`;

/**
 * Returns the objects that Stowage serves. Kinds that the cluster lacks are absent; refused and
 * failed lists are problems.
 */
export async function readObjects(
  connection: Connection,
  parts: Pick<Parts, 'problem'>,
  signal: AbortSignal,
): Promise<Objects> {
  const { client } = connection;
  const lists = await Promise.all(
    LISTED.map(async ([resource, selector = {}]): Promise<[string, KubeObject[]] | undefined> => {
      try {
        const served =
          resource === REFERENCE_GRANTS ? await servedGrants(connection, signal) : resource;
        if (served === undefined) return undefined;
        const { items } = await listAll<KubeObject>(client, served, { ...selector, signal });
        return [resource.plural, items];
      } catch (error) {
        signal.throwIfAborted();
        const isAbsent = error instanceof StowageError && error.code === 'not-found';
        if (!isAbsent) parts.problem(pathOf(resource), error);
        return undefined;
      }
    }),
  );
  return servedObjects(new Map(lists.filter((list) => list !== undefined)));
}

/** Returns the versions that nodes report. Pure. */
export function nodeVersions(objects: Objects): object[] {
  return objectsOf<KubeNode>(objects, NODES).map(({ metadata: { name }, status }) => {
    const info: Record<string, unknown> = { ...status?.nodeInfo };
    const { kubeletVersion, kernelVersion, osImage, containerRuntimeVersion, architecture } = info;
    return { name, kubeletVersion, kernelVersion, osImage, containerRuntimeVersion, architecture };
  });
}

import type { KubeObject, Resource } from '../api/meta.ts';
import { ignoreNotFound } from './errors.ts';
import type { KubeClient } from './types.ts';

/** Reads an object from the API server; undefined where there is none. */
export const getOrUndefined = <T extends KubeObject>(
  client: Pick<KubeClient, 'get'>,
  resource: Resource,
  name: string,
  namespace?: string,
): Promise<T | undefined> => ignoreNotFound(client.get<T>(resource, name, { namespace }));

import { StowageError } from '../api/errors.ts';
import type { Resource } from '../api/meta.ts';
import { isNotFound } from './errors.ts';
import type { Transport } from './transport.ts';

/** Part of the responses to `/apis` and `/api/v1` (apimachinery, APIGroupList, APIResourceList). */
interface Group {
  versions: { groupVersion: string; version: string }[];
  name: string;
}
interface Served {
  name: string;
  kind: string;
  namespaced: boolean;
  verbs: string[];
}

/**
 * Returns all kinds whose objects are deleted with their namespace, each in the first served
 * version. Throws the error of a refused request, since a kind that is not listed may have objects.
 */
export async function kindsInNamespaces(
  transport: Pick<Transport, 'send'>,
  signal?: AbortSignal,
): Promise<Resource[]> {
  const ask = async <T>(path: string, field: string): Promise<T[]> => {
    const answer = (await transport.send({ method: 'GET', path, signal })) as Record<
      string,
      T[] | null
    >;
    const list = answer?.[field];
    // A nil slice of Go is null in JSON.
    if (list === null || Array.isArray(list)) return list ?? [];
    throw new StowageError('failed', `the answer to ${path} has no list of ${field}`);
  };
  const core: Group = { name: '', versions: [{ groupVersion: 'v1', version: 'v1' }] };
  const found = new Map<string, Resource>();
  for (const { name: group, versions } of [core, ...(await ask<Group>('/apis', 'groups'))]) {
    for (const { groupVersion, version } of versions) {
      const path = group === '' ? `/api/${version}` : `/apis/${groupVersion}`;
      for (const { name, kind, namespaced, verbs } of await ask<Served>(path, 'resources')) {
        // Other resources are views of objects, or parts of them (`pods/log`).
        if (
          !namespaced ||
          !verbs.includes('list') ||
          !verbs.includes('delete') ||
          name.includes('/')
        )
          continue;
        const key = `${name}.${group}`;
        if (!found.has(key)) found.set(key, { group, version, plural: name, kind, namespaced });
      }
    }
  }
  return [...found.values()];
}

/**
 * Returns a kind in the first of these versions that is served, or undefined if none is. A served
 * version of the group may lack the kind. Throws other errors of a request.
 */
export async function servedAs(
  transport: Pick<Transport, 'send'>,
  resource: Resource,
  versions: readonly string[],
  signal?: AbortSignal,
): Promise<Resource | undefined> {
  for (const version of versions) {
    const path = `/apis/${resource.group}/${version}`;
    try {
      const answer = (await transport.send({ method: 'GET', path, signal })) as {
        resources?: Served[] | null;
      };
      if (answer.resources?.some(({ name }) => name === resource.plural))
        return { ...resource, version };
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return undefined;
}

/**
 * Returns the resource of a kind in the first version of its group that serves it, in the server's
 * order; undefined if none does.
 */
export async function servedKind(
  transport: Pick<Transport, 'send'>,
  { group, kind }: { group: string; kind: string },
  signal?: AbortSignal,
): Promise<Resource | undefined> {
  const ask = async <T>(path: string): Promise<T | undefined> => {
    try {
      return (await transport.send({ method: 'GET', path, signal })) as T;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return undefined;
    }
  };
  const found = await ask<Group>(`/apis/${encodeURIComponent(group)}`);
  for (const { groupVersion, version } of found?.versions ?? []) {
    const answer = await ask<{ resources?: Served[] | null }>(`/apis/${groupVersion}`);
    const served = answer?.resources?.find(
      (each) => each.kind === kind && !each.name.includes('/'),
    );
    if (served !== undefined) {
      return { group, version, plural: served.name, kind, namespaced: served.namespaced };
    }
  }
  return undefined;
}

import { StowageError } from '../api/errors.ts';
import type { Resource } from '../api/meta.ts';
import { isNotFound } from './errors.ts';
import type { Transport } from './transport.ts';

/** Of what `/apis` and `/api/v1` answer (apimachinery, APIGroupList and APIResourceList). */
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
 * All kinds whose objects are in namespaces and go when these are deleted, each in the first version that is served. Throws what
 * a request is refused with, for what is not known of may be there all the same.
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
    throw new StowageError('failed', `${path} was answered without a list of ${field}`);
  };
  const core: Group = { name: '', versions: [{ groupVersion: 'v1', version: 'v1' }] };
  const found = new Map<string, Resource>();
  for (const { name: group, versions } of [core, ...(await ask<Group>('/apis', 'groups'))]) {
    for (const { groupVersion, version } of versions) {
      const path = group === '' ? `/api/${version}` : `/apis/${groupVersion}`;
      for (const { name, kind, namespaced, verbs } of await ask<Served>(path, 'resources')) {
        // Others are views of something else, or parts of objects (`pods/log`).
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
 * A kind in the first of these versions that is served, or undefined where none is: a group may be served in a version without
 * this kind. Throws what a request is refused with otherwise.
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

/** Where the objects of a kind of a group are, in the version that the server prefers; undefined where it does not serve them. */
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

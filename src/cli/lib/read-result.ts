import { isDnsSubdomain } from '../../api/dns-name.ts';
import { StowageError } from '../../api/errors.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import type { KubeClient, RequestOptions } from '../../kube/types.ts';

/** Result of a read: the object, or its absence, or the refusal to this user. */
export type Reading<T> = { found: T } | { absent: true } | { forbidden: string };

export const foundIn = <T>(reading: Reading<T>): T | undefined =>
  'found' in reading ? reading.found : undefined;

/** Awaits a read. Throws any error but a missing object or a missing permission. */
export async function reading<T>(ask: Promise<T>): Promise<Reading<T>> {
  try {
    return { found: await ask };
  } catch (error) {
    if (!(error instanceof StowageError)) throw error;
    if (error.code === 'not-found') return { absent: true };
    if (error.code === 'forbidden') return { forbidden: error.message };
    throw error;
  }
}

/** Reads an object that another one names. An impossible name is absent, without a request. */
export async function readNamed<T extends KubeObject>(
  client: Pick<KubeClient, 'get'>,
  resource: Resource,
  name: string | undefined,
  options: RequestOptions,
): Promise<Reading<T>> {
  const names = [name, ...(resource.namespaced ? [options.namespace] : [])];
  return names.every((part) => part !== undefined && isDnsSubdomain(part))
    ? reading(client.get<T>(resource, name ?? '', options))
    : { absent: true };
}

import type { Secret } from '../../api/core.ts';
import { isDnsSubdomain } from '../../api/dns-name.ts';
import { AUTHORIZATION_HOSTS_ANNOTATION } from '../../api/names.ts';
import { SECRETS } from '../../api/resources.ts';
import { ApiError } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { isHeader, type SecretRead } from './fill-source.ts';

/**
 * ClusterRole for the daemon to read a namespace's Secrets, bound there by the namespace's owner.
 * No manifest binds it.
 */
export const SECRETS_ROLE = 'stowage-populator-secrets';

/**
 * Creates a reader of Secrets. Reads the API server each time, and only Secrets whose annotation
 * names the host of the URL; `http://HOST` for one without TLS. Throws API errors, except for a
 * missing or forbidden Secret.
 */
export function secretReads(client: Pick<KubeClient, 'get'>): SecretRead {
  return async (namespace, name, key, url) => {
    const what = `key ${key} of Secret ${namespace}/${name}`;
    if (!isDnsSubdomain(name)) return { problem: `${what}, which is not a valid name` };
    try {
      const { data = {}, metadata } = await client.get<Secret>(SECRETS, name, { namespace });
      const { host = '', protocol } = URL.parse(url) ?? {};
      // The author of the URL must not choose to send the Secret in the clear.
      const to = protocol === 'http:' ? `http://${host}` : host;
      const hosts = metadata.annotations?.[AUTHORIZATION_HOSTS_ANNOTATION]?.split(',') ?? [];
      if (host === '' || !hosts.some((each) => each.trim().toLowerCase() === to)) {
        return {
          problem: `${what}, which may not be sent to ${host === '' ? 'a path' : to}. As owner of the Secret, allow it: kubectl annotate secret -n ${namespace} ${name} ${AUTHORIZATION_HOSTS_ANNOTATION}=${host === '' ? 'HOST' : to}`,
        };
      }
      const found = Object.hasOwn(data, key) ? data[key] : undefined;
      return found === undefined
        ? { problem: `${what}, which does not have that key` }
        : { value: Buffer.from(found, 'base64').toString('utf8') };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.statusCode === 404) return { problem: `${what}, which does not exist` };
      if (error.statusCode !== 403) throw error;
      return {
        problem: `${what}, which the daemon may not read. As owner of the namespace, add a RoleBinding there of ClusterRole ${SECRETS_ROLE} to the daemon's service account`,
      };
    }
  };
}

/** Creates a reader of values for the header Authorization, which must be a single line. */
export function authorizationReads(client: Pick<KubeClient, 'get'>) {
  const read = secretReads(client);
  return async (
    namespace: string,
    { name, key }: { name: string; key: string },
    url: string,
  ): Promise<{ value: string } | { problem: string }> => {
    const found = await read(namespace, name, key, url);
    if ('problem' in found) return { problem: `it needs ${found.problem}` };
    const value = found.value.trim();
    return isHeader(value)
      ? { value }
      : {
          problem: `it needs key ${key} of Secret ${namespace}/${name}, which is not a single line`,
        };
  };
}

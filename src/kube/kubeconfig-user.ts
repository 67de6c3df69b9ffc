import { dirname, isAbsolute, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';

/** Whom requests are made as. Header values, by their names in small letters. */
export type Impersonation = Record<string, string | string[]>;

/** What kubeconfigs say of a user and client-node leaves out. */
interface RawUser {
  tokenFile?: string;
  'as-groups'?: string[];
  'as-uid'?: string;
  'as-user-extra'?: Record<string, string[]>;
}

const LEFT_OUT = /tokenFile|as-groups|as-uid|as-user-extra/;

/**
 * Brings to a kubeconfig that was read from `file` what client-node does not take from it: a token in a file, and paths that
 * go from the folder of the kubeconfig, as kubectl's do. Whom users impersonate beside `as` is returned, by their names.
 */
export async function completeUsers(
  config: KubeConfig,
  file: string,
  text: string,
): Promise<Map<string, Impersonation>> {
  const folder = dirname(resolve(file));
  for (const { exec } of config.users) {
    // Without a slash it is looked up on $PATH.
    if (exec?.command?.includes('/')) exec.command = resolve(folder, exec.command);
  }
  const impersonated = new Map<string, Impersonation>();
  // To read it once more takes longer than most commands; so does what reads it.
  if (!LEFT_OUT.test(text)) return impersonated;
  const { parse } = await import('yaml');
  const raw = parse(text, { logLevel: 'error' }) as { users?: { name: string; user?: RawUser }[] };
  for (const { name, user } of raw.users ?? []) {
    const known = config.users.find((other) => other.name === name);
    if (known === undefined || !user) continue;
    if (user.tokenFile) {
      const tokenFile = isAbsolute(user.tokenFile)
        ? user.tokenFile
        : resolve(folder, user.tokenFile);
      // The file goes before a token beside it, which is what was in it once.
      Object.assign(known, {
        token: undefined,
        authProvider: { name: 'tokenFile', config: { tokenFile } },
      });
    }
    impersonated.set(name, headersOf(user));
  }
  return impersonated;
}

/** As client-go's impersonating round tripper writes them. */
function headersOf({
  'as-groups': groups = [],
  'as-uid': uid,
  'as-user-extra': extra = {},
}: RawUser): Impersonation {
  return {
    ...(groups.length > 0 && { 'impersonate-group': groups }),
    ...(uid && { 'impersonate-uid': uid }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [
        `impersonate-extra-${encodeURIComponent(key.toLowerCase())}`,
        values,
      ]),
    ),
  };
}

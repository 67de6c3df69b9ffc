import { dirname, isAbsolute, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';

/** Impersonation headers, by lower-case name. */
export type Impersonation = Record<string, string | string[]>;

/** Fields of a kubeconfig cluster that client-node ignores, for exec plugins. */
export interface PluginCluster {
  disableCompression?: boolean;
  /** Extension of the cluster for exec plugins. */
  config?: unknown;
}

/** Content of a kubeconfig that client-node ignores. */
export interface LeftOut {
  /** Impersonation headers beside `as`, by user. */
  impersonated: Map<string, Impersonation>;
  pluginClusters: Map<string, PluginCluster>;
}

interface RawCluster {
  'disable-compression'?: boolean;
  extensions?: { name: string; extension?: unknown }[] | null;
}

/** Fields of a kubeconfig user that client-node ignores. */
interface RawUser {
  tokenFile?: string;
  'as-groups'?: string[];
  'as-uid'?: string;
  'as-user-extra'?: Record<string, string[]>;
}

/** Name of a cluster's extension that exec plugins get (client-go, tools/clientcmd). */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

const LEFT_OUT =
  /tokenFile|as-groups|as-uid|as-user-extra|disable-compression|client\.authentication\.k8s\.io\/exec/;

/**
 * Adds to a kubeconfig read from `file` what client-node ignores: token files, and commands
 * relative to the kubeconfig's directory, as in kubectl. Returns the other ignored content.
 */
export async function completeConfig(
  config: KubeConfig,
  file: string,
  text: string,
): Promise<LeftOut> {
  const directory = dirname(resolve(file));
  for (const { exec } of config.users) {
    // A command without a slash is looked up in $PATH.
    if (exec?.command?.includes('/')) exec.command = resolve(directory, exec.command);
  }
  const impersonated = new Map<string, Impersonation>();
  const pluginClusters = new Map<string, PluginCluster>();
  // Parsing the file again, and loading the parser, takes longer than most commands.
  if (!LEFT_OUT.test(text)) return { impersonated, pluginClusters };
  const { parse } = await import('yaml');
  const raw = parse(text, { logLevel: 'error' }) as {
    users?: { name: string; user?: RawUser }[] | null;
    clusters?: { name: string; cluster?: RawCluster }[] | null;
  };
  for (const { name, user } of raw.users ?? []) {
    const known = config.users.find((other) => other.name === name);
    if (known === undefined || !user) continue;
    if (user.tokenFile) {
      const tokenFile = isAbsolute(user.tokenFile)
        ? user.tokenFile
        : resolve(directory, user.tokenFile);
      // The file takes precedence over a token beside it, which is an old content of the file.
      Object.assign(known, {
        token: undefined,
        authProvider: { name: 'tokenFile', config: { tokenFile } },
      });
    }
    impersonated.set(name, headersOf(user));
  }
  for (const { name, cluster } of raw.clusters ?? []) {
    const extension = cluster?.extensions?.find((each) => each.name === EXEC_EXTENSION);
    pluginClusters.set(name, {
      ...(cluster?.['disable-compression'] === true && { disableCompression: true }),
      ...(extension?.extension != null && { config: extension.extension }),
    });
  }
  return { impersonated, pluginClusters };
}

/** Returns the headers of client-go's impersonating round tripper. */
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

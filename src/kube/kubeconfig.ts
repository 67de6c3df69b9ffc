import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { StowageError } from '../api/errors.ts';
import { connectPlugin } from './exec-plugin.ts';
import { completeUsers, type Impersonation } from './kubeconfig-user.ts';

export interface KubeconfigOptions {
  /** The path of a file. Default: $KUBECONFIG, ~/.kube/config, then a pod's service account, as kubectl. */
  kubeconfig?: string | undefined;
  context?: string | undefined;
  /** The user to impersonate. */
  as?: string | undefined;
}

const IN_CLUSTER_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

export interface LoadedKubeconfig {
  /** Its current context, cluster and user all exist. */
  config: KubeConfig;
  /** Headers that its user has beside what client-node gives. */
  impersonation: Impersonation;
}

/** Reads it anew. Throws a StowageError that says what to do. */
export async function loadKubeconfig(options: KubeconfigOptions): Promise<LoadedKubeconfig> {
  const files = kubeconfigFiles(options.kubeconfig);
  const { config, impersonated } = await merged(files);
  if (files.length === 0 && existsSync(IN_CLUSTER_TOKEN)) {
    config.loadFromCluster();
  } else if (files.length === 0) {
    throw new StowageError('failed', 'No kubeconfig was found', {
      hint: 'Give one with --kubeconfig or $KUBECONFIG, or put it in ~/.kube/config.',
    });
  }
  selectContext(config, options, files.join(', ') || 'the service account');
  const user = config.getCurrentUser();
  if (user?.exec) connectPlugin(config, user.exec, process);
  return { config, impersonation: impersonated.get(user?.name ?? '') ?? {} };
}

/** The names of the contexts that there are, whichever is current. Throws a StowageError. */
export async function contextNames({
  kubeconfig,
}: Pick<KubeconfigOptions, 'kubeconfig'>): Promise<string[]> {
  const { config } = await merged(kubeconfigFiles(kubeconfig));
  return config.contexts.map(({ name }) => name);
}

/** What the files say together. */
async function merged(files: readonly string[]) {
  // Only what talks to a cluster loads it, and of client-node no more than this: the whole of it costs 100 ms even when bundled.
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new KubeConfig();
  const impersonated = new Map<string, Impersonation>();
  if (files.length === 0) return { config, impersonated };
  const loaded = await Promise.all(files.map((file) => load(new KubeConfig(), file)));
  merge(
    config,
    loaded.map((each) => each.config),
  );
  // Of a name, the first file's, as with all else.
  for (const each of loaded.toReversed()) {
    for (const { name } of each.config.users)
      impersonated.set(name, each.impersonated.get(name) ?? {});
  }
  return { config, impersonated };
}

/** The files that exist; a file that was asked for by flag must. Throws a StowageError. */
function kubeconfigFiles(flag: string | undefined): string[] {
  if (flag !== undefined) return [flag];
  const listed = process.env.KUBECONFIG?.split(delimiter).filter((file) => file !== '') ?? [];
  const files = (
    listed.length > 0 ? listed : [join(process.env.HOME ?? homedir(), '.kube', 'config')]
  ).filter((file) => existsSync(file));
  if (listed.length > 0 && files.length === 0) {
    throw new StowageError('failed', `No file of $KUBECONFIG exists: ${listed.join(', ')}`, {
      hint: 'Correct $KUBECONFIG, or unset it to use ~/.kube/config.',
    });
  }
  return files;
}

async function load(config: KubeConfig, file: string) {
  try {
    const text = readFileSync(file, 'utf8');
    config.loadFromString(text);
    config.makePathsAbsolute(dirname(resolve(file)));
    return { config, impersonated: await completeUsers(config, file, text) };
  } catch (cause) {
    // No cause: the parser's error quotes the lines around the place, and there are tokens in them.
    throw new StowageError(
      'failed',
      `The kubeconfig ${file} cannot be used: ${whatIsWrong(cause)}`,
      {
        hint: 'Check that it is readable YAML of kind Config: `kubectl config view --kubeconfig FILE`.',
      },
    );
  }
}

function whatIsWrong(error: unknown): string {
  const { reason, mark, code, message } = error as Error & {
    code?: string;
    reason?: string;
    mark?: { line: number; column: number };
  };
  if (mark !== undefined) {
    // In quotes is what it found, such as a token that begins with `*`.
    const why = reason?.replaceAll(/".*"/g, '"…"');
    return `it is no YAML: line ${mark.line + 1}, column ${mark.column + 1}: ${why}`;
  }
  // client-node's own say which field is missing; others come of what is no kubeconfig at all.
  return code === undefined && !/ is missing$/.test(message) ? 'it is no kubeconfig' : message;
}

/** As kubectl merges: the first file that has a name, or a current context, wins. (KubeConfig.mergeConfig throws.) */
function merge(into: KubeConfig, configs: KubeConfig[]): void {
  const first = <T extends { name: string }>(all: T[]): T[] => [
    ...new Map(all.toReversed().map((item) => [item.name, item])).values(),
  ];
  into.loadFromOptions({
    clusters: first(configs.flatMap((config) => config.clusters)),
    users: first(configs.flatMap((config) => config.users)),
    contexts: first(configs.flatMap((config) => config.contexts)),
    currentContext: configs.find((config) => config.currentContext)?.currentContext,
  });
}

function selectContext(config: KubeConfig, options: KubeconfigOptions, source: string): void {
  const names = config.contexts.map((context) => context.name).join(', ') || 'none';
  const name = options.context ?? config.currentContext;
  if (!name) {
    throw new StowageError('failed', `${source} has no current context`, {
      hint: `Choose one with --context. There are: ${names}.`,
    });
  }
  if (config.contexts.every((context) => context.name !== name)) {
    throw new StowageError(
      options.context === undefined ? 'failed' : 'usage',
      `${source} has no context ${name}`,
      {
        hint: `There are: ${names}.`,
      },
    );
  }
  config.setCurrentContext(name);
  const cluster = config.getCurrentCluster();
  if (cluster === null || !URL.canParse(cluster.server ?? '')) {
    const found = cluster?.server ?? 'none';
    throw new StowageError('failed', `${source}: context ${name} has no usable server: ${found}`, {
      hint: 'Correct the cluster entry of the kubeconfig; its server is a URL.',
    });
  }
  if (cluster.skipTLSVerify && (cluster.caData || cluster.caFile)) {
    throw new StowageError(
      'failed',
      `${source}: cluster ${cluster.name} has a CA and is not to be verified`,
      {
        hint: 'Take insecure-skip-tls-verify away, or certificate-authority. kubectl refuses both together, too.',
      },
    );
  }
  // client-node refuses plain http unless told to skip TLS; kubectl does not ask.
  if (cluster.server.startsWith('http:')) Object.assign(cluster, { skipTLSVerify: true });
  let user = config.getCurrentUser();
  if (user === null) {
    // Without a user client-node forgets the cluster's CA, and there is nobody to impersonate as.
    user = { name: 'anonymous' };
    config.users = [user];
    Object.assign(config.getContextObject(name) ?? {}, { user: user.name });
  }
  if (options.as !== undefined) Object.assign(user, { impersonateUser: options.as });
}

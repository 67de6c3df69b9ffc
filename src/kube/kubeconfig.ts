import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { StowageError } from '../api/errors.ts';
import { connectPlugin } from './exec-plugin.ts';
import { completeConfig, type Impersonation, type LeftOut } from './kubeconfig-user.ts';

export interface KubeconfigOptions {
  /**
   * Path of a file. Default, as in kubectl: $KUBECONFIG, ~/.kube/config, a pod's service account.
   */
  kubeconfig?: string | undefined;
  context?: string | undefined;
  /** The user to impersonate. */
  as?: string | undefined;
}

const IN_CLUSTER_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

export interface LoadedKubeconfig {
  /** Config whose current context, cluster and user exist. */
  config: KubeConfig;
  /** Impersonation headers that client-node leaves out. */
  impersonation: Impersonation;
  /** `proxy-url` of the current cluster, which the config lacks. */
  proxyUrl: string | undefined;
}

/** Reads the kubeconfig files, without a cache. Throws a StowageError with a hint. */
export async function loadKubeconfig(options: KubeconfigOptions): Promise<LoadedKubeconfig> {
  const files = kubeconfigFiles(options.kubeconfig);
  const { config, impersonated, pluginClusters } = await merged(files);
  if (files.length === 0 && existsSync(IN_CLUSTER_TOKEN)) {
    config.loadFromCluster();
  } else if (files.length === 0) {
    throw new StowageError('failed', 'No kubeconfig was found', {
      hint: 'Name one with --kubeconfig or $KUBECONFIG, or put it at ~/.kube/config.',
    });
  }
  selectContext(config, options, files.join(', ') || 'the service account');
  const user = config.getCurrentUser();
  const cluster = config.getCurrentCluster();
  const proxyUrl = cluster?.proxyUrl || undefined;
  // client-node would create an agent, which nothing uses, from libraries that the bundle lacks
  // (scripts/slim).
  if (cluster !== null) Object.assign(cluster, { proxyUrl: undefined });
  if (user?.exec) {
    const leftOut = { ...pluginClusters.get(cluster?.name ?? ''), proxyUrl };
    connectPlugin(config, user.exec, process, leftOut);
  }
  return { config, impersonation: impersonated.get(user?.name ?? '') ?? {}, proxyUrl };
}

/** Returns the names of all contexts. Throws a StowageError. */
export async function contextNames({
  kubeconfig,
}: Pick<KubeconfigOptions, 'kubeconfig'>): Promise<string[]> {
  const { config } = await merged(kubeconfigFiles(kubeconfig));
  return config.contexts.map(({ name }) => name);
}

async function merged(files: readonly string[]) {
  // Loaded only by commands that talk to a cluster. All of client-node takes 100 ms to load even
  // when bundled, so only this module is imported.
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new KubeConfig();
  const impersonated: LeftOut['impersonated'] = new Map();
  const pluginClusters: LeftOut['pluginClusters'] = new Map();
  if (files.length === 0) return { config, impersonated, pluginClusters };
  const loaded = await Promise.all(files.map((file) => load(new KubeConfig(), file)));
  merge(
    config,
    loaded.map((each) => each.config),
  );
  // The first file with a user or cluster of that name wins, as for all other entries.
  for (const each of loaded.toReversed()) {
    for (const { name } of each.config.users)
      impersonated.set(name, each.impersonated.get(name) ?? {});
    for (const { name } of each.config.clusters)
      pluginClusters.set(name, each.pluginClusters.get(name) ?? {});
  }
  return { config, impersonated, pluginClusters };
}

/**
 * Returns the kubeconfig files that exist, or the file of the flag, which is not checked here.
 * Throws a StowageError if $KUBECONFIG names no existing file.
 */
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

async function load(config: KubeConfig, file: string): Promise<{ config: KubeConfig } & LeftOut> {
  try {
    const text = readFileSync(file, 'utf8');
    // As in kubectl, a file may be empty (clientcmd, loader.go, Load).
    if (isEmpty(text)) return { config, impersonated: new Map(), pluginClusters: new Map() };
    config.loadFromString(text);
    config.makePathsAbsolute(dirname(resolve(file)));
    return { config, ...(await completeConfig(config, file, text)) };
  } catch (cause) {
    // No `cause`: the parser's error quotes the surrounding lines, which may contain tokens.
    throw new StowageError(
      'failed',
      `The kubeconfig ${file} cannot be used: ${whatIsWrong(cause)}`,
      {
        hint: 'Check that it is readable YAML of kind Config: `kubectl config view --kubeconfig FILE`.',
      },
    );
  }
}

/** Reports whether a YAML text has no more than comments, document markers and null. */
const isEmpty = (text: string): boolean =>
  text.split(/\r?\n/).every((line) => /^(?:---|\.\.\.|null|~)?\s*(?:#.*)?$/.test(line.trim()));

function whatIsWrong(error: unknown): string {
  const { reason, mark, code, message } = error as Error & {
    code?: string;
    reason?: string;
    mark?: { line: number; column: number };
  };
  if (mark !== undefined) {
    // The parser quotes the text that it found, such as a token that begins with `*`.
    const why = reason?.replaceAll(/".*"/g, '"…"');
    return `invalid YAML: line ${mark.line + 1}, column ${mark.column + 1}: ${why}`;
  }
  // client-node's own errors name a missing field. Others without a code mean another format.
  return code === undefined && !/ is missing$/.test(message) ? 'not a kubeconfig' : message;
}

/**
 * Merges like kubectl: the first file that has a name, or a current context, wins.
 * (KubeConfig.mergeConfig throws for duplicates.)
 */
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
      hint: `Choose one with --context. Known contexts: ${names}.`,
    });
  }
  if (config.contexts.every((context) => context.name !== name)) {
    throw new StowageError(
      options.context === undefined ? 'failed' : 'usage',
      `${source} has no context ${name}`,
      {
        hint: `Choose one of the known contexts: ${names}.`,
      },
    );
  }
  config.setCurrentContext(name);
  const cluster = config.getCurrentCluster();
  if (cluster === null || !URL.canParse(cluster.server ?? '')) {
    const found = cluster?.server ?? 'none';
    throw new StowageError('failed', `${source}: context ${name} has no usable server: ${found}`, {
      hint: 'Correct the cluster in the kubeconfig: its server must be a URL.',
    });
  }
  if (cluster.skipTLSVerify && (cluster.caData || cluster.caFile)) {
    throw new StowageError(
      'failed',
      `${source}: cluster ${cluster.name} has both a CA and insecure-skip-tls-verify`,
      {
        hint: 'Remove either insecure-skip-tls-verify or certificate-authority. kubectl refuses both together, too.',
      },
    );
  }
  // client-node refuses plain http unless TLS verification is off; kubectl accepts plain http.
  if (cluster.server.startsWith('http:')) Object.assign(cluster, { skipTLSVerify: true });
  let user = config.getCurrentUser();
  if (user === null) {
    // Without a user, client-node drops the cluster's CA, and impersonation has no user to be set
    // on.
    user = { name: 'anonymous' };
    config.users = [user];
    Object.assign(config.getContextObject(name) ?? {}, { user: user.name });
  }
  if (options.as !== undefined) Object.assign(user, { impersonateUser: options.as });
}

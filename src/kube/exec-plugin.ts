import { type SpawnOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { Cluster } from '@kubernetes/client-node/dist/config_types.js';
import type { PluginCluster } from './kubeconfig-user.ts';

export interface ExecPlugin {
  apiVersion?: string;
  command?: string;
  installHint?: string;
  interactiveMode?: 'Never' | 'IfAvailable' | 'Always';
  provideClusterInfo?: boolean;
}

/** Terminal of the person who runs the command, if any. */
export interface PluginTerminal {
  stdin: { isTTY?: boolean };
  stderr: { isTTY?: boolean; write(text: string): unknown };
}

/**
 * Makes client-node run exec plugins as kubectl does
 * (https://kubernetes.io/docs/reference/access-authn-authz/authentication/, client-go credential
 * plugins). On a terminal a person sees the plugin's output and can answer it. Elsewhere the plugin
 * reads end of file at once; client-node would leave it waiting on a pipe without a writer.
 */
export function connectPlugin(
  config: KubeConfig,
  plugin: ExecPlugin,
  terminal: PluginTerminal,
  leftOut: PluginCluster & { proxyUrl: string | undefined },
): void {
  const { apiVersion, command = '', interactiveMode = 'IfAvailable' } = plugin;
  const interactive = interactiveMode !== 'Never' && terminal.stdin.isTTY === true;
  const cluster = plugin.provideClusterInfo === true ? config.getCurrentCluster() : null;

  function run(_command: string, args: readonly string[] | undefined, options: SpawnOptions) {
    if (interactiveMode === 'Always' && !interactive) {
      throw new Error(
        `the exec plugin ${command} needs a terminal (interactiveMode: Always), and there is none`,
      );
    }
    const spec = { ...(cluster !== null && { cluster: infoOf(cluster, leftOut) }), interactive };
    const info = { apiVersion, kind: 'ExecCredential', spec };
    const child = spawn(command, args ?? [], {
      ...options,
      env: { ...(options.env ?? process.env), KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
    });
    if (terminal.stderr.isTTY)
      child.stderr?.on('data', (text: string) => terminal.stderr.write(text));
    return child;
  }

  // client-node has a field for it, but no public access.
  for (const authenticator of Reflect.get(config, 'authenticators') as object[]) {
    if (Reflect.has(authenticator, 'execFn')) Object.assign(authenticator, { execFn: run });
  }
}

/**
 * Returns the cluster as plugins get it (client-go, rest/exec.go, ConfigToExecCluster;
 * client.authentication.k8s.io/v1, Cluster). A CA file is read each time, since it may be replaced.
 */
function infoOf(
  { server, tlsServerName, skipTLSVerify, caFile, caData }: Cluster,
  { disableCompression, config, proxyUrl }: PluginCluster & { proxyUrl: string | undefined },
): object {
  const ca = caData || (caFile ? readFileSync(caFile).toString('base64') : undefined);
  return {
    server,
    ...(tlsServerName && { 'tls-server-name': tlsServerName }),
    // Stowage sets it itself for plain http: see selectContext.
    ...(skipTLSVerify && !server.startsWith('http:') && { 'insecure-skip-tls-verify': true }),
    ...(ca && { 'certificate-authority-data': ca }),
    ...(proxyUrl && { 'proxy-url': proxyUrl }),
    ...(disableCompression === true && { 'disable-compression': true }),
    ...(config !== undefined && { config }),
  };
}

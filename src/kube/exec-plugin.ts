import { type SpawnOptions, spawn } from 'node:child_process';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';

/** The exec plugin of a user, as the kubeconfig has it. */
export interface ExecPlugin {
  apiVersion?: string;
  command?: string;
  installHint?: string;
  interactiveMode?: 'Never' | 'IfAvailable' | 'Always';
}

/** The terminal, if there is one, of whoever runs this. */
export interface PluginTerminal {
  stdin: { isTTY?: boolean };
  stderr: { isTTY?: boolean; write(text: string): unknown };
}

/**
 * Has client-node run exec plugins as kubectl does (https://kubernetes.io/docs/reference/access-authn-authz/authentication/,
 * client-go credential plugins): on a terminal a person sees what the plugin says and can answer it; elsewhere it finds the end
 * of its input at once, where client-node leaves it waiting at a pipe that nobody writes to.
 */
export function connectPlugin(
  config: KubeConfig,
  plugin: ExecPlugin,
  terminal: PluginTerminal,
): void {
  const { apiVersion, command = '', interactiveMode = 'IfAvailable' } = plugin;
  const interactive = interactiveMode !== 'Never' && terminal.stdin.isTTY === true;
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive } };

  function run(_command: string, args: readonly string[] | undefined, options: SpawnOptions) {
    if (interactiveMode === 'Always' && !interactive) {
      throw new Error(
        `the exec plugin ${command} asks questions (interactiveMode), and there is no terminal`,
      );
    }
    const child = spawn(command, args ?? [], {
      ...options,
      env: { ...(options.env ?? process.env), KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
    });
    if (terminal.stderr.isTTY)
      child.stderr?.on('data', (text: string) => terminal.stderr.write(text));
    return child;
  }

  // client-node has a place for it, and no way to reach it.
  for (const authenticator of Reflect.get(config, 'authenticators') as object[]) {
    if (Reflect.has(authenticator, 'execFn')) Object.assign(authenticator, { execFn: run });
  }
}

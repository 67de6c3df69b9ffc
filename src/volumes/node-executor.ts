import type { KubeNode } from '../api/core.ts';
import type { Executor } from '../nodes/job.ts';
import { createLocalShell } from '../nodes/local-shell.ts';
import { type GateClock, limitNodes } from '../nodes/node-gate.ts';
import { createShellExecutor } from '../nodes/shell-executor.ts';
import { createSshShell, type SshAddress } from '../nodes/ssh-shell.ts';
import { addressOfNode } from './node-address.ts';
import { lifeOf } from './node-life.ts';

export interface NodeExecutorOptions {
  transport: 'ssh' | 'local';
  /** The names under which this machine is a node; for `local` only. */
  localNodes: readonly string[];
  /** Instead of ~/.ssh/config; for `ssh` only. */
  sshConfig?: string;
  /** The object of a node, which says where it is reached, and when it comes back; for `ssh` only. */
  nodeNamed(name: string): KubeNode | undefined;
  /** What goes before what that object says. Asked before every command. Default: nothing. */
  addressOf?: (node: string) => SshAddress;
  /** Throws a NodeError where nothing may be done on the node (any more). Default: all may be. */
  check?: (node: string) => void;
  clock: GateClock;
}

/** Hands on the nodes, as the daemon and the commands have them. */
export function createNodeExecutor(options: NodeExecutorOptions): Executor {
  const { transport, localNodes, sshConfig, nodeNamed, addressOf, check, clock } = options;
  if (transport === 'local') return createShellExecutor(createLocalShell(localNodes, check));
  const shell = createSshShell({
    ...(sshConfig === undefined ? {} : { configFile: sshConfig }),
    addressOf: (node) => ({ ...addressOfNode(nodeNamed(node)), ...addressOf?.(node) }),
    ...(check === undefined ? {} : { check }),
  });
  return createShellExecutor(limitNodes(shell, clock, (node) => lifeOf(nodeNamed(node))));
}

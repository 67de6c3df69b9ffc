import type { KubeNode } from '../api/core.ts';
import type { Executor } from '../nodes/job.ts';
import { type GateClock, limitNodes } from '../nodes/node-limiter.ts';
import { createGuardExecutor } from '../nodes/transport/guard-executor.ts';
import { createLocalShell } from '../nodes/transport/local-shell.ts';
import type { SaltAccess } from '../nodes/transport/salt/access.ts';
import { createSaltExecutor } from '../nodes/transport/salt/executor.ts';
import { createShellExecutor } from '../nodes/transport/shell-executor.ts';
import { createSshShell, type SshAddress } from '../nodes/transport/ssh-shell.ts';
import type { Transport } from '../nodes/transport/transport.ts';
import { addressOfNode, minionOfNode } from './node-address.ts';
import { nodeIncarnation } from './node-incarnation.ts';

export interface NodeExecutorOptions {
  transport: Transport;
  /** The names under which this machine is a node; for `local` only. */
  localNodes: readonly string[];
  /** Instead of ~/.ssh/config; for `ssh` only. */
  sshConfig?: string;
  /** Nodes let ssh do nothing but Stowage's forced command; for `ssh` only. */
  sshGuard?: boolean;
  /** For `salt`, and only there. */
  salt?: SaltAccess;
  /** The id of the minion that is a node, over what its object says; for `salt` only. Asked before every command. */
  minionOf?: (node: string) => string | undefined;
  /** The object of a node, which says where it is reached, and when it comes back; for `ssh` and `salt`. */
  nodeNamed(name: string): KubeNode | undefined;
  /** What goes before what that object says. Asked before every command. Default: nothing. */
  addressOf?: (node: string) => SshAddress;
  /** Throws a NodeError where nothing may be done on the node (any more). Default: all may be. */
  check?: (node: string) => void;
  clock: GateClock;
}

/** Hands on the nodes, as the daemon and the commands have them. */
export function createNodeExecutor(options: NodeExecutorOptions): Executor {
  const {
    transport,
    localNodes,
    sshConfig,
    sshGuard,
    salt,
    minionOf,
    nodeNamed,
    addressOf,
    check,
    clock,
  } = options;
  if (transport === 'local') return createShellExecutor(createLocalShell(localNodes, check));
  const nodeLife = (node: string) => nodeIncarnation(nodeNamed(node));
  if (salt !== undefined) {
    return createSaltExecutor({
      access: salt,
      minionOf: (node) => minionOf?.(node) ?? minionOfNode(nodeNamed(node)) ?? node,
      check,
      incarnationOf: nodeLife,
      clock,
    });
  }
  const shell = createSshShell({
    ...(sshConfig === undefined ? {} : { configFile: sshConfig }),
    addressOf: (node) => ({ ...addressOfNode(nodeNamed(node)), ...addressOf?.(node) }),
    ...(check === undefined ? {} : { check }),
  });
  const limited = limitNodes(shell, clock, nodeLife);
  return sshGuard ? createGuardExecutor(limited) : createShellExecutor(limited);
}

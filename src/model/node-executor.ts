import type { KubeNode } from '../api/core.ts';
import type { Executor } from '../nodes/job.ts';
import { type LimiterClock, limitNodes } from '../nodes/node-limiter.ts';
import { createGuardExecutor } from '../nodes/transport/guard-executor.ts';
import { createLocalShell } from '../nodes/transport/local-shell.ts';
import type { SaltAccess } from '../nodes/transport/salt/access.ts';
import { createSaltExecutor } from '../nodes/transport/salt/executor.ts';
import { createShellExecutor } from '../nodes/transport/shell-executor.ts';
import { createSshShell, type SshAddress } from '../nodes/transport/ssh-shell.ts';
import type { Transport } from '../nodes/transport/transport.ts';
import { addressOfNode, minionOfNode } from './node-address.ts';
import { incarnationText } from './node-incarnation.ts';

export interface NodeExecutorOptions {
  transport: Transport;
  /** Names under which this machine is a node; only for `local`. */
  localNodes: readonly string[];
  /** Replaces ~/.ssh/config; only for `ssh`. */
  sshConfig?: string;
  /** True if nodes allow ssh only Stowage's forced command; only for `ssh`. */
  sshGuard?: boolean;
  /** Only for `salt`. */
  salt?: SaltAccess;
  /** Overrides the minion id in the Node; only for `salt`. Called before every command. */
  minionOf?: (node: string) => string | undefined;
  /** Returns a Node, of which address and incarnation are used; for `ssh` and `salt`. */
  nodeNamed(name: string): KubeNode | undefined;
  /** Overrides the address in the Node. Called before every command. Default: no override. */
  addressOf?: (node: string) => SshAddress;
  /** Throws a NodeError if no work is allowed on the node (any more). Default: all is allowed. */
  check?: (node: string) => void;
  /** Called once with the reason if connections are not shared; only for `ssh`. */
  onUnshared?: ((why: Error) => void) | undefined;
  clock: LimiterClock;
}

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
    onUnshared,
    clock,
  } = options;
  if (transport === 'local') return createShellExecutor(createLocalShell(localNodes, check));
  const incarnationOf = (node: string) => incarnationText(nodeNamed(node));
  if (salt !== undefined) {
    return createSaltExecutor({
      access: salt,
      minionOf: (node) => minionOf?.(node) ?? minionOfNode(nodeNamed(node)) ?? node,
      check,
      incarnationOf,
      clock,
    });
  }
  const shell = createSshShell({
    ...(sshConfig === undefined ? {} : { configFile: sshConfig }),
    addressOf: (node) => ({ ...addressOfNode(nodeNamed(node)), ...addressOf?.(node) }),
    onUnshared,
    ...(check === undefined ? {} : { check }),
  });
  const limited = limitNodes(shell, clock, incarnationOf);
  return sshGuard ? createGuardExecutor(limited) : createShellExecutor(limited);
}

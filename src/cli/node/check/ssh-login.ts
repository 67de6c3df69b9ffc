import type { KubeNode } from '../../../api/core.ts';
import type { ReasonCode } from '../../../api/reasons.ts';
import { addressOfNode } from '../../../model/node-address.ts';
import { NodeError } from '../../../nodes/errors.ts';
import { commandLine } from '../../lib/command-line.ts';
import type { NodeFlags } from '../../lib/nodes/flags.ts';

type SshFlags = Pick<NodeFlags, 'addresses' | 'sshConfig' | 'sshGuard'>;

/** Reasons whose action is this check of the node. */
const CHECKED: ReadonlySet<string> = new Set<ReasonCode>(['LoginRefused', 'NodeUnreachable']);

/**
 * Returns the error of a node with the ssh command of these flags as its hint, if its hint is to
 * check the node. Pure.
 */
export function withLoginCommand(
  error: NodeError,
  node: KubeNode | undefined,
  flags: SshFlags,
): NodeError {
  const { code, node: name, message, reason, cause } = error;
  if (reason === undefined || !CHECKED.has(reason.code)) return error;
  const login = loginCommand(name, node, flags);
  const hint = flags.sshGuard
    ? `Check that the node is up, and that it answers this user with "ssh_guard: not a request": ${login} </dev/null`
    : `Check that the node is up, and that this works for this user without a password: ${login}`;
  return new NodeError(code, name, message, { hint, reason, cause });
}

/** Returns the command that logs in to the node as Stowage does. */
function loginCommand(
  name: string,
  node: KubeNode | undefined,
  { addresses, sshConfig }: SshFlags,
): string {
  const address = { ...addressOfNode(node), ...addresses.get(name) };
  const { host, port, configFile = sshConfig } = address;
  return commandLine(
    'ssh',
    ...(configFile === undefined ? [] : ['-F', configFile]),
    ...(port === undefined ? [] : ['-p', String(port)]),
    // The host key is known under the name of the node.
    ...(host === undefined ? [name] : ['-o', `HostKeyAlias=${name}`, host]),
    'true',
  );
}

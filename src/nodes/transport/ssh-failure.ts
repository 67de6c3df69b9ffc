import { NodeError } from '../errors.ts';

/** ssh's own exit status, as opposed to that of the remote command (ssh(1)). */
export const SSH_FAILED = 255;

/** A connection that ends in the midst of a command makes ssh end so, at LogLevel=ERROR without a word. */
const BROKEN_OFF = 'the connection broke off, and ssh did not say why';

/** What a failed `ssh NODE sh` means, by what the OpenSSH client prints; of one that did not start, by why. */
export function classifySshFailure(
  node: string,
  exitCode: number | undefined,
  stderr: string,
): NodeError {
  const said = stderr.trim() || (exitCode === SSH_FAILED ? BROKEN_OFF : 'it printed nothing');
  if (exitCode !== undefined && exitCode !== SSH_FAILED) {
    return new NodeError(
      'protocol',
      node,
      `node ${node}: sh ended with status ${exitCode}: ${said}`,
    );
  }
  if (said.includes('REMOTE HOST IDENTIFICATION HAS CHANGED')) {
    const [, shown] =
      /fingerprint for the (.+? key sent by the remote host is\s+\S+?)\.?\s/.exec(said) ?? [];
    const [, known] = /^Offending .+ key in (.+)$/m.exec(said) ?? [];
    const found = shown === undefined ? '' : `: the ${shown.replace(/\s+/g, ' ')}`;
    const where = known === undefined ? '' : ` (${known.trim()})`;
    return new NodeError(
      'refused',
      node,
      `node ${node}: its host key is another than the known one${found}`,
      {
        hint: `If the node was reinstalled, remove the old key${where}: ssh-keygen -R ${node}; then add the new one, checked by another way.`,
      },
    );
  }
  if (said.includes('Host key verification failed') || said.includes('host key is known for')) {
    const [, kind] = /^No (\S+) host key is known/m.exec(said) ?? [];
    return new NodeError(
      'refused',
      node,
      `node ${node}: its host key is not known${kind === undefined ? '' : ` (of the kind ${kind})`}`,
      {
        hint: `Add the key, checked by another way, to known_hosts under the name ${node}: stowage check node ${node} --trust-host-key SHA256:… does, if it has that fingerprint, and 'ssh -o HostKeyAlias=${node} ${node}' asks about it.`,
      },
    );
  }
  if (said.includes('Permission denied')) {
    return new NodeError('refused', node, `node ${node}: ${said}`, {
      hint: `Check that 'ssh ${node} true' works for this user without a password.`,
    });
  }
  return new NodeError('unreachable', node, `node ${node} is not reached over ssh: ${said}`, {
    hint: `Check that the node is up and that 'ssh ${node} true' works for this user.`,
  });
}

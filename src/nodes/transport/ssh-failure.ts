import { refuse } from '../../api/reasons.ts';
import { type NodeError, nodeError } from '../errors.ts';

/** Exit status of ssh itself, as opposed to that of the remote command (ssh(1)). */
export const SSH_FAILED = 255;

/** Message of ssh about an option that it knows, but was built without. */
export const UNSUPPORTED = /Unsupported option/;

/**
 * Message for a connection that ends during a command: ssh then prints nothing at LogLevel=ERROR.
 */
const BROKEN_OFF = 'the connection broke, and ssh gave no reason';

/**
 * Messages of the OpenSSH client, 5.7 to 10.5, which has no translations (sshconnect.c,
 * sshconnect2.c).
 */
const WORDS = {
  revoked: /REVOKED HOST KEY|^Host key .+ revoked by file /m,
  revokedBy: /^Host key .+ revoked by file (.+?)\s*$/m,
  changed: 'REMOTE HOST IDENTIFICATION HAS CHANGED',
  shown: /fingerprint for the (.+?) key sent by the remote host is\s+(\S+?)\.?\s/,
  known: /^Offending .+ key in (.+):(\d+)\s*$/m,
  unknown: ['Host key verification failed', 'host key is known for'],
  kind: /^No (\S+) host key is known for (\S+) and you have requested strict checking/m,
  // Such as "Certificate invalid: expired" and "Certificate lacks principal list".
  certificate: /^Certificate (?:invalid: )?(.+?)\s*$/m,
  denied: 'Permission denied',
};

/**
 * Returns the error for a failed `ssh NODE sh`, by the output of the OpenSSH client; for one that
 * did not start, by the cause.
 */
export function classifySshFailure(
  node: string,
  exitCode: number | undefined,
  stderr: string,
): NodeError {
  const output = stderr.trim() || (exitCode === SSH_FAILED ? BROKEN_OFF : 'it printed nothing');
  if (exitCode !== undefined && exitCode !== SSH_FAILED)
    return nodeError(
      'protocol',
      node,
      refuse('ShellFailed', { node, exit: exitCode, said: output }),
    );
  // Before the others: their hints lead to trust in the key.
  if (WORDS.revoked.test(output)) {
    const [, file] = WORDS.revokedBy.exec(output) ?? [];
    return nodeError('refused', node, refuse('HostKeyRevoked', { node, file }));
  }
  if (output.includes(WORDS.changed)) {
    const [, type, fingerprint] = WORDS.shown.exec(output) ?? [];
    const [, file, line] = WORDS.known.exec(output) ?? [];
    const why = refuse('HostKeyChanged', { node, type, fingerprint, file, line });
    return nodeError('refused', node, why);
  }
  if (WORDS.unknown.some((words) => output.includes(words))) {
    const [, type, alias] = WORDS.kind.exec(output) ?? [];
    // ssh also prints what it says of a jump host.
    const isOfNode = alias === node;
    const [, said] = (isOfNode && WORDS.certificate.exec(output)) || [];
    const why =
      said === undefined
        ? refuse('HostKeyUnknown', { node, ...(isOfNode && { type }) })
        : refuse('HostCertificateRefused', { node, said });
    return nodeError('refused', node, why);
  }
  if (output.includes(WORDS.denied))
    return nodeError('refused', node, refuse('LoginRefused', { node, said: output }));
  // The message names ssh already.
  const said = output.replace(/^ssh: /, '');
  return nodeError('unreachable', node, refuse('NodeUnreachable', { node, said }));
}

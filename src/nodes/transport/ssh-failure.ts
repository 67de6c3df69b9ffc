import { refuse } from '../../api/reasons.ts';
import { NodeError, nodeError } from '../errors.ts';

/** Exit status of ssh itself, as opposed to that of the remote command (ssh(1)). */
export const SSH_FAILED = 255;

/**
 * Message for a connection that ends during a command: ssh then prints nothing at LogLevel=ERROR.
 */
const BROKEN_OFF = 'the connection broke, and ssh gave no reason';

/**
 * Messages of the OpenSSH client, 5.7 to 10.5, which has no translations (sshconnect.c,
 * sshconnect2.c).
 */
const WORDS = {
  changed: 'REMOTE HOST IDENTIFICATION HAS CHANGED',
  shown: /fingerprint for the (.+?) key sent by the remote host is\s+(\S+?)\.?\s/,
  known: /^Offending .+ key in (.+):(\d+)\s*$/m,
  unknown: ['Host key verification failed', 'host key is known for'],
  kind: /^No (\S+) host key is known/m,
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
  if (output.includes(WORDS.changed)) {
    const [, type, fingerprint] = WORDS.shown.exec(output) ?? [];
    const [, file, line] = WORDS.known.exec(output) ?? [];
    const why = refuse('HostKeyChanged', { node, type, fingerprint, file, line });
    return nodeError('refused', node, why);
  }
  if (WORDS.unknown.some((words) => output.includes(words))) {
    const [, type] = WORDS.kind.exec(output) ?? [];
    const [, certificate] = WORDS.certificate.exec(output) ?? [];
    const why =
      certificate === undefined
        ? refuse('HostKeyUnknown', { node, type })
        : refuse('HostCertificateRefused', { node, name: node, said: certificate });
    return nodeError('refused', node, why);
  }
  if (output.includes(WORDS.denied))
    return nodeError('refused', node, refuse('LoginRefused', { node, said: output }));
  // The message names ssh already.
  const said = output.replace(/^ssh: /, '');
  return nodeError('unreachable', node, refuse('NodeUnreachable', { node, said }));
}

const UNKNOWN: ReadonlySet<string | undefined> = new Set([
  'HostKeyUnknown',
  'HostCertificateRefused',
]);

/** Reports whether ssh knows neither the host key nor its certificate. */
export const isHostKeyUnknown = (error: unknown): error is NodeError =>
  error instanceof NodeError && UNKNOWN.has(error.reason?.code);

/**
 * Returns the error for a node whose host certificate is accepted neither for the name of the node
 * nor for another name.
 * @param first failure of the check for the name of the node
 * @param second failure of the check for the other name
 */
export function certificateRefused(name: string, first: NodeError, second: NodeError): NodeError {
  const { node } = first;
  const said =
    [second, first]
      .map(({ reason }) => reason?.parameters.said)
      .find((each) => each !== undefined) ?? 'no CA in known_hosts is for that name';
  const why = refuse('HostCertificateRefused', { node, name, said });
  return nodeError('refused', node, why);
}

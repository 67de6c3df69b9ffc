import { execa, type Result } from 'execa';
import { refuse } from '../../api/reasons.ts';
import { answerTooLong, endOf } from '../answer-limit.ts';
import { NodeError, nodeError } from '../errors.ts';
import { workingDirectory } from '../working-directory.ts';
import { makeControlDirectory } from './control-directory.ts';
import type { Shell } from './shell.ts';
import {
  certificateRefused,
  classifySshFailure,
  isHostKeyUnknown,
  SSH_FAILED,
} from './ssh-failure.ts';
import { CERTIFICATES_ONLY, configuredHost, newerOptions, sshArguments } from './ssh-options.ts';
import { checkedInput } from './standard-input.ts';

/** Address of a node; absent fields are left to ~/.ssh/config. */
export interface SshAddress {
  host?: string;
  port?: number;
  /** File to use instead of the one for all nodes. */
  configFile?: string;
  /**
   * True if `host` is from the Node, into which its kubelet may write. A kubelet must not choose
   * the name that a host certificate is checked for: another machine could stand in for the node.
   */
  isFromNode?: boolean;
}

export interface SshOptions {
  /** File to use instead of ~/.ssh/config and the system's. */
  configFile?: string;
  /**
   * Returns the address of a node. It is called before every command, so that a changed annotation
   * counts at once.
   */
  addressOf(node: string): SshAddress;
  /**
   * Throws a NodeError if nothing may be done on the node (any more). Default: all nodes are
   * allowed.
   */
  check?: (node: string) => void;
}

/** Names of nodes in Kubernetes: nothing else becomes an argument of ssh. */
const NODE_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Host certificate that stands for a host key of the node's name. */
interface HostCertificate {
  /** Name for which the certificate must be valid. */
  name: string;
}

/**
 * Creates a shell over the OpenSSH client, with one connection per node, so that ~/.ssh/config,
 * agents and ProxyJump work. `limitNodes` limits the number of concurrent sessions.
 */
export function createSshShell(options: SshOptions): Shell {
  const destinations = new Map<string, string[]>();
  const abort = new AbortController();
  /** Certificates by which nodes were accepted. */
  const certificates = new Map<string, HostCertificate>();
  let client: Promise<{ directory: string | undefined; newer: string[] }> | undefined;

  function prepareClient(node: string) {
    client ??= Promise.all([makeControlDirectory(process.getuid?.() ?? 0), newerOptions()]).then(
      ([directory, newer]) => ({ directory, newer }),
      (cause: Error) => {
        client = undefined;
        const why = refuse('SocketFolderUnusable', { said: cause.message });
        throw nodeError('refused', node, why, cause);
      },
    );
    return client;
  }

  /** Returns the arguments of ssh for the configuration file and port of an address. */
  const locationOf = ({ port, configFile = options.configFile }: SshAddress): string[] => [
    ...(configFile === undefined ? [] : ['-F', configFile]),
    ...(port === undefined ? [] : ['-p', String(port)]),
  ];

  async function argumentsFor(node: string, certificate?: HostCertificate): Promise<string[]> {
    const { newer, directory } = await prepareClient(node);
    const address = options.addressOf(node);
    return [
      ...locationOf(address),
      ...sshArguments(node, certificate?.name ?? node, newer, directory),
      ...(certificate === undefined ? [] : CERTIFICATES_ONLY),
      '--',
      address.host ?? node,
    ];
  }

  /** Returns the only certificate that may stand for a host key of the node's name. */
  async function certificateOf(node: string): Promise<HostCertificate> {
    const address = options.addressOf(node);
    if (address.isFromNode) return { name: node };
    return { name: (await configuredHost(locationOf(address), address.host ?? node)) ?? node };
  }

  async function send(
    node: string,
    script: string,
    timeoutMs: number,
    certificate?: HostCertificate,
  ): Promise<string> {
    const destination = await argumentsFor(node, certificate);
    destinations.set(destination.join('\0'), destination);
    options.check?.(node);
    const call = () =>
      endOf(
        execa('ssh', [...destination, 'sh'], {
          cwd: workingDirectory(),
          stdin: checkedInput(script, () => options.check?.(node)),
          timeout: timeoutMs,
          // Stowage itself handles a signal that ends this process: `close` ends running
          // programs.
          cleanup: false,
          cancelSignal: abort.signal,
          reject: false,
          buffer: false,
        }),
      );
    const first = await call();
    const { result, stdout, stderr } = isNotSent(first) ? await call() : first;
    if (stdout === undefined) throw answerTooLong(node);
    if (result.failed) {
      if (result.cause instanceof NodeError) throw result.cause;
      throw result.timedOut
        ? nodeError('unreachable', node, refuse('NodeSilent', { node, seconds: timeoutMs / 1000 }))
        : classifySshFailure(node, result.exitCode, stderr || whyEnded(result));
    }
    return stdout;
  }

  /** Sends a script to a node whose host key is unknown under the node's name. */
  async function sendByCertificate(
    node: string,
    script: string,
    timeoutMs: number,
    unknown: NodeError,
  ): Promise<string> {
    const certificate = await certificateOf(node);
    try {
      const answer = await send(node, script, timeoutMs, certificate);
      certificates.set(node, certificate);
      return answer;
    } catch (error) {
      // A host without a certificate offers no key that ssh asks for.
      throw isHostKeyUnknown(error)
        ? certificateRefused(certificate.name, unknown, error)
        : unknown;
    }
  }

  return {
    async run(node, script, timeoutMs) {
      if (!NODE_NAME.test(node)) {
        const why = refuse('NodeNameInvalid', { name: JSON.stringify(node) });
        throw nodeError('refused', node, why);
      }
      const certificate = options.addressOf(node).isFromNode ? undefined : certificates.get(node);
      try {
        return await send(node, script, timeoutMs, certificate);
      } catch (error) {
        if (!isHostKeyUnknown(error)) throw error;
        certificates.delete(node);
        // ssh checks the host key before it sends anything.
        return await sendByCertificate(node, script, timeoutMs, error);
      }
    },
    async close() {
      abort.abort();
      for (const destination of destinations.values()) {
        // ssh fails if the connection is already gone, which is fine.
        const ending = ['-O', 'exit', ...destination];
        await execa('ssh', ending, { cwd: workingDirectory(), reject: false, timeout: 5000 });
      }
    },
  };
}

/**
 * Reports whether the shared connection ended after ssh's greeting and before its request for a
 * session was sent. Nothing has run then, and the next ssh makes its own connection.
 */
const isNotSent = ({
  result,
  stderr,
}: {
  result: Pick<Result, 'exitCode'>;
  stderr: string;
}): boolean =>
  result.exitCode === SSH_FAILED &&
  /^mux_client_request_(alive|session): write packet: /m.test(stderr);

/**
 * Returns why an ssh that printed nothing did not start, or what ended it. Omits the long command
 * line.
 */
const whyEnded = ({
  originalMessage,
  signal,
}: Pick<Result, 'originalMessage' | 'signal'>): string =>
  originalMessage ?? (signal === undefined ? '' : `ssh was terminated by ${signal}`);

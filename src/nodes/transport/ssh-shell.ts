import { execa, type Result } from 'execa';
import { refuse } from '../../api/reasons.ts';
import { answerTooLong, endOf } from '../answer-limit.ts';
import { NodeError, nodeError } from '../errors.ts';
import { workingDirectory } from '../working-directory.ts';
import { makeControlDirectory } from './control-directory.ts';
import type { Shell } from './shell.ts';
import { classifySshFailure, SSH_FAILED } from './ssh-failure.ts';
import { optionalOptions, sshArguments } from './ssh-options.ts';
import { checkedInput } from './standard-input.ts';

/** Address of a node; absent fields are left to ~/.ssh/config. */
export interface SshAddress {
  host?: string;
  port?: number;
  /** File to use instead of the one for all nodes. */
  configFile?: string;
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
  /** Called once with the reason if connections are not shared: each call then makes its own. */
  onUnshared?: ((why: Error) => void) | undefined;
}

/** Names of nodes in Kubernetes: nothing else becomes an argument of ssh. */
const NODE_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * Creates a shell over the OpenSSH client, with one connection per node, so that ~/.ssh/config,
 * agents and ProxyJump work. `limitNodes` limits the number of concurrent sessions.
 */
export function createSshShell(options: SshOptions): Shell {
  const destinations = new Map<string, string[]>();
  const abort = new AbortController();
  let client: Promise<{ directory: string | undefined; known: string[] }> | undefined;
  let isUnsharedReported = false;

  function prepareClient(node: string) {
    client ??= Promise.all([makeControlDirectory(process.getuid?.() ?? 0), optionalOptions()]).then(
      ([control, known]) => {
        // The options are asked for again at the next call.
        if (known === undefined) client = undefined;
        const directory = 'path' in control ? control.path : undefined;
        if ('problem' in control && !isUnsharedReported) {
          isUnsharedReported = true;
          options.onUnshared?.(control.problem);
        }
        return { directory, known: known ?? [] };
      },
      (cause: Error) => {
        client = undefined;
        const why = refuse('SocketFolderUnusable', { said: cause.message });
        throw nodeError('refused', node, why, cause);
      },
    );
    return client;
  }

  async function argumentsFor(node: string): Promise<string[]> {
    const { known, directory } = await prepareClient(node);
    const { host = node, port, configFile = options.configFile } = options.addressOf(node);
    return [
      ...(configFile === undefined ? [] : ['-F', configFile]),
      ...(port === undefined ? [] : ['-p', String(port)]),
      ...sshArguments(node, known, directory),
      '--',
      host,
    ];
  }

  return {
    async run(node, script, timeoutMs) {
      if (!NODE_NAME.test(node)) {
        const why = refuse('NodeNameInvalid', { name: JSON.stringify(node) });
        throw nodeError('refused', node, why);
      }
      const destination = await argumentsFor(node);
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
          ? nodeError(
              'unreachable',
              node,
              refuse('NodeSilent', { node, seconds: timeoutMs / 1000 }),
            )
          : classifySshFailure(node, result.exitCode, stderr || whyEnded(result));
      }
      return stdout;
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

import { execa } from 'execa';
import { refuse } from '../../api/reasons.ts';
import { answerTooLong, endOf } from '../answer-limit.ts';
import { NodeError, nodeError } from '../errors.ts';
import { workingDirectory } from '../working-directory.ts';
import type { Shell } from './shell.ts';
import { checkedInput } from './standard-input.ts';

/**
 * Creates a shell on the machine that this process runs on, under the given names. It acts for no
 * other node. For `check` see SshOptions.
 */
export function createLocalShell(
  nodes: readonly string[],
  check: (node: string) => void = () => {},
): Shell {
  return {
    async run(node, script, timeoutMs) {
      if (!nodes.includes(node)) {
        const why = refuse('NodeNotLocal', { node, named: nodes.join(', ') });
        throw nodeError('not-ours', node, why);
      }
      check(node);
      const { result, stdout, stderr } = await endOf(
        execa('sh', [], {
          cwd: workingDirectory(),
          stdin: checkedInput(script, () => check(node)),
          timeout: timeoutMs,
          // Stowage itself handles a signal that ends this process.
          cleanup: false,
          reject: false,
          buffer: false,
        }),
      );
      if (stdout === undefined) throw answerTooLong(node);
      if (result.failed) {
        if (result.cause instanceof NodeError) throw result.cause;
        const why = result.timedOut ? `no answer within ${timeoutMs / 1000} s` : stderr.trim();
        const output = why || (result.shortMessage ?? '');
        throw nodeError('protocol', node, refuse('LocalShellFailed', { node, said: output }));
      }
      return stdout;
    },
    async close() {},
  };
}

import { execa } from 'execa';
import { answerTooLong, endOf } from '../answer-limit.ts';
import { NodeError } from '../errors.ts';
import { workingFolder } from '../working-folder.ts';
import type { Shell } from './shell.ts';
import { checkedInput } from './standard-input.ts';

/** The machine that this process runs on, under the names given: it acts for no other node. For `check` see SshOptions. */
export function createLocalShell(
  nodes: readonly string[],
  check: (node: string) => void = () => {},
): Shell {
  return {
    async run(node, script, timeoutMs) {
      if (!nodes.includes(node)) {
        throw new NodeError('not-ours', node, `node ${node} is not this machine`, {
          hint: `Name it with --local-node if it is, or use --transport ssh. Named now: ${nodes.join(', ')}.`,
        });
      }
      check(node);
      const { result, stdout, stderr } = await endOf(
        execa('sh', [], {
          cwd: workingFolder(),
          stdin: checkedInput(script, () => check(node)),
          timeout: timeoutMs,
          // A signal that ends this process is ours to handle.
          cleanup: false,
          reject: false,
          buffer: false,
        }),
      );
      if (stdout === undefined) throw answerTooLong(node);
      if (result.failed) {
        if (result.cause instanceof NodeError) throw result.cause;
        const why = result.timedOut ? `no answer within ${timeoutMs / 1000} s` : stderr.trim();
        throw new NodeError(
          'protocol',
          node,
          `node ${node}: sh failed: ${why || result.shortMessage}`,
        );
      }
      return stdout;
    },
    async close() {},
  };
}

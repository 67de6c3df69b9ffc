import { NodeError } from './errors.ts';

/**
 * Most bytes of one answer of a node: what ten thousand devices take. The daemon has 512 MiB for all nodes, and JSON can grow
 * to thirty times its size when it is read.
 */
export const ANSWER_LIMIT = 4 << 20;

/** Most bytes of what ssh or sh print on standard error, of which a message keeps a line or two. */
export const ERRORS_LIMIT = 64 << 10;

export function answerTooLong(node: string): NodeError {
  return new NodeError('protocol', node, `node ${node} answered with more than ${ANSWER_LIMIT >> 20} MiB`, {
    hint: 'Stowage asks for far less: check what prints into non-interactive logins on the node, and who administers it.',
  });
}

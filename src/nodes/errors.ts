import { bounded, type Reason, type Refused } from '../api/reasons.ts';

/**
 * Code of an error. unreachable: no answer, so nothing is known. refused: the node denies access
 * (key, host key, sudo). protocol: the answer is not understood. not-ours: this executor does not
 * act for the node.
 */
export type NodeErrorCode = 'unreachable' | 'refused' | 'protocol' | 'not-ours';

/**
 * Error of work on a node that was impossible or has an unknown end. It never means that a job
 * failed.
 */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  readonly code: NodeErrorCode;
  readonly node: string;
  readonly hint: string | undefined;
  readonly reason: Reason | undefined;

  constructor(
    code: NodeErrorCode,
    node: string,
    message: string,
    options: { hint?: string; reason?: Reason; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.node = node;
    this.hint = options.hint;
    this.reason = options.reason;
  }
}

/**
 * Maximum characters of a parameter: output of a node may be long, and reasons are kept in objects.
 */
const LONGEST_PARAMETER = 512;

/** Returns the error for a reason, with the message and the hint that the list has for it. Pure. */
export function nodeError(
  code: NodeErrorCode,
  node: string,
  { reason, refusal, hint }: Refused,
  cause?: unknown,
): NodeError {
  return new NodeError(code, node, refusal, {
    ...(hint !== '' && { hint }),
    reason: bounded(reason, LONGEST_PARAMETER),
    cause,
  });
}

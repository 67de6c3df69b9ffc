import { bounded, type Reason, type Refused } from '../api/reasons.ts';

/**
 * unreachable: no answer, so nothing is known. refused: the node does not let us do it (key, host key, sudo).
 * protocol: it answered something that we do not understand. not-ours: this executor has no business there.
 */
export type NodeErrorCode = 'unreachable' | 'refused' | 'protocol' | 'not-ours';

/** Work on a node that could not be done or whose end is not known. It never means that a job failed. */
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

/** Characters of a parameter at most: what a node says may be long, and reasons are kept in objects. */
const LONGEST_PARAMETER = 512;

/** Makes an error of a reason, with the message and the hint that the list has for it. Pure. */
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

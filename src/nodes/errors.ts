import type { Reason } from '../api/reasons.ts';

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

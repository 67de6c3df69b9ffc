import type { Reason } from '../../api/reasons.ts';
import { NodeError, type NodeErrorCode } from '../../nodes/errors.ts';
import { withHint } from '../../nodes/job-text.ts';
import { ObservationError } from '../../storage/probe-results.ts';

/**
 * The reason that a node's state is unknown. Without `code`, its answer allows no safe conclusion.
 */
export type Unanswered =
  | { code: NodeErrorCode; node: string; message: string; detail: Reason | undefined }
  | { code?: undefined; node?: undefined; message: string; detail: Reason };

/**
 * Returns the result of `ask`, or of `unknown` for a NodeError or an ObservationError. Throws any
 * other error.
 */
export async function answered<T, U>(
  ask: () => Promise<T>,
  unknown: (why: Unanswered) => U,
): Promise<T | U> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof NodeError) {
      const { code, node, message, hint, reason: detail } = error;
      return unknown({ code, node, message: withHint(message, hint), detail });
    }
    if (error instanceof ObservationError)
      return unknown({ message: error.message, detail: error.reason });
    throw error;
  }
}

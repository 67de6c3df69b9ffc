/** Parts that several messages of the page have. Pure. */

/** A part of an answer, or the reason why it is missing. */
export type Part<T> = { found: T } | { missing: string };

export interface ConditionRow {
  type: string;
  status: string;
  reason: string;
  message: string;
  /** RFC 3339, or ''. */
  since: string;
}

/** Result of `stowage why`. */
export interface WhyDetail {
  /** Set if nothing blocks the object; all other fields are '' then. */
  nothing: string;
  cause: string;
  holdup: string;
  since: string;
  /** Next attempt: a time (RFC 3339), or what it waits for. */
  nextTry: string;
  fix: string;
  /** Command lines of the fix. */
  command: string;
  manifest: string;
}

/** One thing that was checked, and what helps. */
export interface Check {
  check: string;
  ok: boolean;
  /** What was found, or what it is for. */
  message: string;
  hint?: string;
  /** To be run once it was looked at what it is about. */
  command?: string;
}

/** What was found out about a node. */
export interface NodeReport {
  node: string;
  checks: Check[];
}

/** Result of one check, and its remedy. */
export interface Check {
  check: string;
  ok: boolean;
  /** Result, or purpose of the check. */
  message: string;
  hint?: string;
  /** Command to run after an inspection of its object. */
  command?: string;
}

export interface NodeReport {
  node: string;
  checks: Check[];
}

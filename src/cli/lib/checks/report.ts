import type { ReasonCode } from '../../../api/reasons.ts';
import { type ClusterFlags, hintInCluster } from '../in-cluster.ts';

/** Result of one check, and its remedy. */
export interface Check {
  check: string;
  ok: boolean;
  /** Result, or purpose of the check. */
  message: string;
  hint?: string;
  /** Code of the reason, if the list of reasons has it. */
  reason?: ReasonCode;
  /** Command to run after an inspection of its object. */
  command?: string;
}

/** Returns a check whose hint has commands for the cluster of the command line. Pure. */
export const checkIn = (flags: ClusterFlags, check: Check): Check =>
  check.hint === undefined ? check : { ...check, hint: hintInCluster(flags)(check.hint) };

export interface NodeReport {
  node: string;
  checks: Check[];
}

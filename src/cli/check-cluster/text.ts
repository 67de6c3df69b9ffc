import type { Check } from '../lib/checks/report.ts';
import { helpLines } from '../lib/checks/text.ts';
import { table } from '../lib/output/table.ts';

/** Returns a table of the checks, followed by commands for a shell with kubectl and stowage. */
export function clusterText(checks: readonly Check[]): string {
  const rows = checks.map(({ check, ok, message }) => [check, ok ? 'OK' : 'problem', message]);
  return `${table(['CHECK', 'RESULT', 'WHAT'], rows)}${helpLines('Fixes:', checks)}`;
}

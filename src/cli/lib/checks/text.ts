import { printable } from '../output/printable.ts';
import { table } from '../output/table.ts';
import { comment } from '../plan/text.ts';
import type { Check, NodeReport } from './report.ts';

/** Returns a table for each node, under its name if there are several, and then what helps. */
export function checksText(reports: readonly NodeReport[]): string {
  return reports
    .map(({ node, checks }) => {
      const rows = checks.map(({ check, ok, message }) => [check, ok ? 'OK' : 'problem', message]);
      const heading = reports.length > 1 ? `Node ${node}\n` : '';
      // An unreachable node is also an error of the command, with a hint of its own. No command can
      // run there.
      const there = checks.filter(({ check }) => check !== 'reachable');
      return `${heading}${table(['CHECK', 'RESULT', 'WHAT'], rows)}${helpLines(`Fixes, to run as root on ${node}:`, there)}`;
    })
    .join('\n');
}

/** Returns lines for a shell: messages and hints are comments. Prints equal fixes once. */
export function helpLines(heading: string, checks: readonly Check[]): string {
  const fixes = Map.groupBy(
    checks.filter(({ ok, hint }) => !ok && hint !== undefined),
    ({ hint, command }) => JSON.stringify([hint, command]),
  );
  const lines = [...fixes.values()].flatMap((same) => [
    '',
    ...same.map(({ message }) => comment(message)),
    ...same
      .slice(0, 1)
      .flatMap(({ hint = '', command = '' }) => [comment(hint), command])
      .filter((line) => line !== ''),
  ]);
  if (lines.length === 0) return '';
  return printable(`\n${comment(heading)}${lines.map((line) => `\n${line}`).join('')}\n`);
}

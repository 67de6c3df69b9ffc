import type { Row } from './campaign.ts';
import type { Verdict } from './try-mutation.ts';

/**
 * Returns the Markdown table of results, with totals as its last line.
 * @param seconds duration of the run
 */
export function report(rows: readonly Row[], seconds: number): string {
  const lines = rows.map(({ mutation, result }) => {
    const place = `\`${mutation.file}\`: \`${mutation.function}\``;
    const verdict = result === undefined ? 'not run' : cellOf(result.verdict);
    const cells = [mutation.id, mutation.invariant, place, verdict, `${result?.seconds ?? 0} s`];
    return `| ${cells.join(' | ')} |`;
  });
  const count = (is: Verdict['is']) =>
    rows.filter(({ result }) => result?.verdict.is === is).length;
  return [
    '| mutation | invariant | place | killed by | time |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
    '',
    `${count('killed')} killed, ${count('survived')} survived, ${count('error')} errors in ${seconds} s`,
    '',
  ].join('\n');
}

function cellOf(verdict: Verdict): string {
  switch (verdict.is) {
    case 'killed':
      return verdict.test === undefined ? `${verdict.by}: did not end` : verdict.by;
    case 'error':
      return `**error**: ${verdict.message.split('\n')[0]}`;
    default:
      return `**${verdict.is}**`;
  }
}

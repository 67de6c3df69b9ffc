import type { Mutation } from './mutation.ts';
import type { Result } from './results.ts';
import type { Verdict } from './try-mutation.ts';

/**
 * Returns the Markdown table of results, and their sum as its last line.
 * @param seconds what the run took
 */
export function report(rows: readonly { mutation: Mutation; result: Result }[], seconds: number): string {
  const lines = rows.map(({ mutation, result }) => {
    const place = `\`${mutation.file}\`: \`${mutation.function}\``;
    const cells = [mutation.id, mutation.invariant, place, cellOf(result.verdict), `${result.seconds} s`];
    return `| ${cells.join(' | ')} |`;
  });
  const count = (is: Verdict['is']) => rows.filter(({ result }) => result.verdict.is === is).length;
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
    case 'survived':
      return '**survived**';
    case 'error':
      return `**error**: ${verdict.message.split('\n')[0]}`;
  }
}

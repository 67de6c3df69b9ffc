/**
 * Prints the durations of the last runs: `npm run test:times [-- --all]`.
 * Prints one row for each stage, then the 30 slowest files of the stages' last runs. With --all, a
 * row for each recorded run.
 */
import Table from 'cli-table3';
import { type Entry, readJournal } from './journal.ts';

const SLOWEST = 30;

const seconds = (ms: number) => (ms / 1000).toFixed(1);
const percent = (share: number | undefined) =>
  share === undefined ? '' : `${Math.round(share * 100)} %`;

function print(head: string[], rows: (string | number)[][]): void {
  const table = new Table({ head, style: { head: [], border: [], compact: true } });
  table.push(...rows);
  process.stdout.write(`${table.toString()}\n`);
}

const entries = await readJournal();
const wholes = entries.filter(({ file }) => file === undefined);
if (wholes.length === 0) {
  process.stderr.write('nothing is recorded yet: run `npm test` first\n');
  process.exitCode = 1;
} else {
  const byStage = Object.values(Object.groupBy(wholes, ({ stage }) => stage)) as Entry[][];
  // A run of one file does not represent its stage.
  const lastRuns = byStage.map(
    (runs) => (runs.findLast(({ part }) => !part) ?? runs.at(-1)) as Entry,
  );
  const shown = process.argv.includes('--all') ? wholes : lastRuns;
  const total = shown.reduce((sum, { ms }) => sum + ms, 0);
  print(
    ['stage', 'started', 'seconds', 'share', 'idle', 'passed', 'failed', 'left out'],
    shown.map(({ run, stage, ms, idle, passed = '', failed = '', leftOut = '' }) => [
      ...[
        stage,
        new Date(run).toISOString().slice(0, 19),
        seconds(ms),
        percent(ms / total),
        percent(idle),
      ],
      ...[passed, failed, leftOut],
    ]),
  );
  const last = new Map(lastRuns.map(({ stage, run }) => [stage, run]));
  const slowest = entries
    .filter(({ file, stage, run }) => file !== undefined && last.get(stage) === run)
    .sort((a, b) => b.ms - a.ms)
    .slice(0, SLOWEST);
  print(
    ['stage', 'file', 'seconds', 'passed'],
    slowest.map(({ stage, file = '', ms, passed = 0 }) => [stage, file, seconds(ms), passed]),
  );
}

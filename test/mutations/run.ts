/**
 * `npm run test:mutations [-- --only REGEX] [--fresh] [--results FILE]`: changes the code in one place after the other, each time in
 * a copy of the checkout, and reports the changes that no test notices. Exits with 1 where one survived, with 2 where a mutation no
 * longer fits the code or proves nothing.
 */
import { parseArgs } from 'node:util';
import { checkAnchors } from './anchors.ts';
import { MUTATIONS } from './mutations.ts';
import { report } from './report.ts';
import { hashTests, keyOf, openResults, type Result } from './results.ts';
import { type TryDeps, tryMutation } from './try-mutation.ts';
import { createWorkingCopy } from './working-copy.ts';

/** Mutations at a time: tests in one process keep one processor busy. */
const AT_ONCE = 2;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    fresh: { type: 'boolean', default: false },
    results: { type: 'string', default: 'node_modules/.cache/stowage-mutations.jsonl' },
  },
});
const started = Date.now();
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => stop.abort(new Error(signal)));

const secondsSince = (time: number) => Math.round((Date.now() - time) / 1000);
const log = (line: string) => process.stderr.write(`${line}\n`);

const selected = MUTATIONS.filter(({ id }) => new RegExp(values.only).test(id));
const problems = await checkAnchors(selected);
for (const problem of problems) log(`error: ${problem}`);
if (problems.length > 0) process.exit(2);

const tests = await hashTests();
const results = await openResults(values.results, values.fresh);
const rows = await Promise.all(
  selected.map(async (mutation) => {
    const key = await keyOf(mutation, tests);
    return { mutation, key, result: results.of(mutation, key) };
  }),
);
const due = rows.filter(({ result }) => result === undefined);
log(`${rows.length} mutations, ${rows.length - due.length} of them known`);

let last: Promise<unknown> = Promise.resolve();
function alone<T>(run: () => Promise<T>): Promise<T> {
  const next = last.then(run);
  last = next.catch(() => {});
  return next;
}

const controls: TryDeps['controls'] = new Map();
let done = 0;
async function work(): Promise<void> {
  if (due.length === 0) return;
  const copy = await createWorkingCopy();
  try {
    for (let row = due.shift(); row !== undefined; row = due.shift()) {
      const { mutation, key } = row;
      const began = Date.now();
      const verdict = await tryMutation(mutation, { copy, signal: stop.signal, alone, controls });
      const result: Result = { id: mutation.id, key, verdict, seconds: secondsSince(began) };
      row.result = result;
      await results.add(result);
      done++;
      log(`${done} ${mutation.id}: ${verdict.is} ${'by' in verdict ? verdict.by : ''} (${result.seconds} s)`);
    }
  } finally {
    await copy.remove();
  }
}

// All of them, so that each has removed its copy.
const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
for (const end of ends) if (end.status === 'rejected' && !stop.signal.aborted) throw end.reason;
if (stop.signal.aborted) {
  log(`stopped by ${stop.signal.reason.message}: run it again to go on`);
  process.exit(130);
}
const complete = rows.map(({ mutation, result }) => ({ mutation, result: result as Result }));
process.stdout.write(report(complete, secondsSince(started)));
const verdicts = complete.map(({ result }) => result.verdict.is);
process.exitCode = verdicts.includes('error') ? 2 : verdicts.includes('survived') ? 1 : 0;

/**
 * `npm run test:mutations [-- --only REGEX] [--fresh] [--results FILE] [--test FILE]`
 * Changes one place of the code at a time, each in a copy of the checkout, and reports changes that
 * no test detects. Exits with 1 if one survived, and with 2 if a mutation no longer fits the code
 * or proves nothing.
 */
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain, toRegExp, UsageError } from '../lanes/main.ts';
import { checkAnchors } from './anchors.ts';
import { type Row, runCampaign } from './campaign.ts';
import { MUTATIONS } from './mutations.ts';
import { report } from './report.ts';
import { openResults } from './results.ts';

const OPTIONS = {
  only: { type: 'string', default: '' },
  fresh: { type: 'boolean', default: false },
  /** Reports the mutations that one test file detects alone. The results are not kept. */
  test: { type: 'string' },
  results: { type: 'string', default: 'node_modules/.cache/stowage-mutations.jsonl' },
} as const;

function readOptions() {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

await runMain(async () => {
  const values = readOptions();
  const started = Date.now();
  const log = (line: string) => process.stderr.write(`${line}\n`);

  const stop = new AbortController();
  const kill = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) kill.abort(new Error(signal));
      else log(`${signal}: an integration test comes to its end first; send it again to kill that`);
      stop.abort(new Error(signal));
    });
  }

  const only = toRegExp(values.only);
  const selected = MUTATIONS.filter(({ id }) => only.test(id));
  if (selected.length === 0) throw new UsageError(`no mutation matches ${values.only}`);
  const problems = await checkAnchors(selected);
  for (const problem of problems) log(`error: ${problem}`);
  if (problems.length > 0) process.exit(2);

  const alone = values.test !== undefined;
  const file = alone ? join(tmpdir(), `stowage-mutations-${process.pid}.jsonl`) : values.results;
  const results = await openResults(file, values.fresh);
  const rows: Row[] = [];
  for (const mutation of selected) rows.push({ mutation, result: await results.of(mutation) });
  log(
    `${rows.length} mutations, ${rows.filter(({ result }) => result !== undefined).length} with results`,
  );
  await runCampaign(rows, {
    results,
    log,
    stop: stop.signal,
    kill: kill.signal,
    test: values.test,
  }).catch((error) => {
    if (!stop.signal.aborted) throw error;
  });
  if (alone) await rm(file, { force: true });
  if (stop.signal.aborted) {
    log('stopped: run it again to go on');
    process.exit(130);
  }

  const verdicts = rows.map(({ result }) => result?.verdict.is);
  process.stdout.write(report(rows, Math.round((Date.now() - started) / 1000)));
  process.exitCode = verdicts.includes('error') ? 2 : verdicts.includes('survived') ? 1 : 0;
});

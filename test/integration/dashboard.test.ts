import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { ALERT_CASES } from '../support/alert-cases.ts';
import { scrapesOfBusyDaemon } from '../support/busy-daemon.ts';
import {
  alertsOf,
  type DashboardPanel,
  expressionsOf,
  limitOf,
  queryPanels,
  withVariables,
} from '../support/dashboard.ts';
import { readSamples } from '../support/exposition.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** The expressions of deploy/dashboard.json, evaluated by Prometheus' parser and engine. */

const panels = queryPanels();
const queries = panels.flatMap(({ id, title, targets = [] }) =>
  targets.map(({ refId, expr }) => ({ title: `${id} ${title}, query ${refId}`, expr })),
);

/** Runs promtool with a file of that content. */
async function promtool(args: readonly string[], content: object) {
  const folder = await temporaryDirectory('dashboard');
  try {
    const file = join(folder.path, 'file.yaml');
    await writeFile(file, stringify(content));
    const { status, stdout, stderr } = spawnSync('promtool', [...args, file], { encoding: 'utf8' });
    return { status, said: stdout + stderr };
  } finally {
    await folder.remove();
  }
}

const checkRules = (exprs: readonly string[]) =>
  promtool(['check', 'rules'], {
    groups: [
      {
        name: 'panels',
        rules: exprs.map((expr, index) => ({
          record: `panel:${index}`,
          expr: withVariables(expr),
        })),
      },
    ],
  });

test('promtool parses all expressions', async () => {
  expect(await checkRules(queries.map(({ expr }) => expr))).toEqual({
    status: 0,
    said: expect.stringContaining('SUCCESS'),
  });
});

test('promtool refuses an invalid expression', async () => {
  expect((await checkRules(['max by phase (stowage_volumes)'])).status).not.toBe(0);
});

interface Question {
  /** Values a minute apart, by series. */
  series: Record<string, string>;
  /** Expression that is 1 for true. */
  expr: string;
}

/** Returns the answer of Prometheus to each question, at that time. */
async function answers(questions: readonly Question[], at: string): Promise<boolean[]> {
  // The label finds the question in promtool's report.
  const labelled = (expr: string, index: number) =>
    `label_replace(${expr}, "question", "${index}", "", "")`;
  const bySeries = Map.groupBy([...questions.entries()], ([, { series }]) => series);
  const tests = [...bySeries].map(([series, asked]) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: asked.map(([index, { expr }]) => ({
      expr: labelled(expr, index),
      eval_time: at,
      exp_samples: [{ labels: `{question="${index}"}`, value: 1 }],
    })),
  }));
  const { status, said } = await promtool(['test', 'rules'], { rule_files: [], tests });
  if (status !== 0 && !said.includes('"question')) throw new Error(`promtool failed: ${said}`);
  const report = said.replaceAll('\\', '');
  return questions.map((_, index) => !report.includes(`"question", "${index}"`));
}

/** Returns an expression that is 1 if any of these has a sample with the condition, else 0. */
const anyIs = (exprs: readonly string[], condition: string): string =>
  `(${exprs
    .map((expr) => `(count((${withVariables(expr)}) ${condition}) or vector(0))`)
    .join(' + ')}) > bool 0`;

describe('a panel with the limit of an alert', () => {
  const cases = panels.flatMap((panel) => {
    const limit = limitOf(panel);
    return limit === undefined ? [] : ALERT_CASES.flatMap((each) => caseOf(panel, limit, each));
  });
  let results: boolean[];

  function caseOf(
    panel: DashboardPanel,
    { value, redBelow }: NonNullable<ReturnType<typeof limitOf>>,
    { alert, fires, rests }: (typeof ALERT_CASES)[number],
  ) {
    if (!alertsOf(panel).includes(alert.toLowerCase())) return [];
    const isRed = anyIs(expressionsOf(panel), redBelow ? `< ${value}` : `>= ${value}`);
    return [
      { title: `"${panel.title}" is red where ${alert} fires`, series: fires, expr: isRed },
      {
        title: `"${panel.title}" is not red where ${alert} does not fire`,
        series: rests,
        expr: `1 - (${isRed})`,
      },
    ];
  }
  beforeAll(async () => {
    results = await answers(cases, '3h');
  });

  test.each(cases.map(({ title }, index) => [title, index] as const))('%s', (_, index) => {
    expect(results[index]).toBe(true);
  });
});

describe('the metrics of a busy daemon', () => {
  let results: boolean[];

  beforeAll(async () => {
    const scrapes = await scrapesOfBusyDaemon(2);
    const series = seriesOf(scrapes);
    // NaN, such as the quantile of a histogram without observations, is no data.
    const questions = queries.map(({ expr }) => ({ series, expr: anyIs([expr], '> -Inf') }));
    results = await answers(questions, `${scrapes.length - 1}m`);
  });

  test.each(queries.map(({ title }, index) => [title, index] as const))(
    'give data to the panel %s',
    (_, index) => expect(results[index]).toBe(true),
  );
});

/** Returns the values of each series in the scrapes, as Prometheus stores them. */
function seriesOf(scrapes: readonly string[]): Record<string, string> {
  const all = scrapes.map(
    (body) =>
      new Map(
        readSamples(body).map(({ name, labels, value }) => [nameOf(name, labels), value] as const),
      ),
  );
  const names = new Set(all.flatMap((each) => [...each.keys()]));
  const values = (name: string) =>
    all.map((each) => {
      const value = each.get(name) ?? Number.NaN;
      return Number.isNaN(value) ? '_' : value;
    });
  return Object.fromEntries([...names].map((name) => [name, values(name).join(' ')]));
}

const nameOf = (name: string, labels: Record<string, string>): string =>
  `${name}{${Object.entries({ ...labels, job: 'stowage', instance: '10.0.0.1:8080' })
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
    .join()}}`;

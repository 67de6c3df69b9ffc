import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { createMetrics } from '../../src/manager/metrics/metrics.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { ALERT_CASES } from '../support/alert-cases.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const FILE = 'deploy/alerts.yaml';
const PAGE = 'docs/alerts.md';

interface Rule {
  alert: string;
  expr: string;
  annotations: { summary: string; runbook: string };
}

const rules = async (): Promise<Rule[]> =>
  (parse(await readFile(FILE, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
    (group) => group.rules,
  );

const promtool = (...args: string[]): { status: number | null; said: string } => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return { status, said: stdout + stderr };
};

test('promtool finds nothing wrong with the rules', () => {
  expect(promtool('check', 'rules', FILE)).toEqual({
    status: 0,
    said: expect.stringContaining('SUCCESS'),
  });
});

test('every alerting rule has exactly one test case', async () => {
  const alerts = (await rules()).map(({ alert }) => alert);
  expect(ALERT_CASES.map(({ alert }) => alert).sort()).toEqual([...alerts].sort());
  expect(new Set(alerts).size).toBe(alerts.length);
});

test('the rules use every series of the daemon except process metrics, and no others', async () => {
  const { registry } = createMetrics({ clock: systemClock, transportOf: () => 'ssh' });
  const served = (await registry.getMetricsAsJSON()).map(({ name }) => name);
  const ours = served.filter((name) => !/^(process|nodejs)_/.test(name));
  const asked = (await rules())
    .flatMap(({ expr }) => expr.match(/\b[a-z]\w*_\w+\b/g) ?? [])
    .map((name) =>
      name.replace(/_(bucket|count|sum)$/, (suffix) => (ours.includes(name) ? suffix : '')),
    );
  const words = new Set([
    'histogram_quantile',
    'operation_name',
    'volume_plugin',
    'plugin_name',
    'storage_class',
  ]);
  const values = new Set(['desired_state_of_world', 'actual_state_of_world']);
  const series = [...new Set(asked)].filter((name) => !words.has(name) && !values.has(name));
  expect(series.sort()).toEqual([...ours].sort());
});

test('docs/alerts.md has one section per rule, to which its runbook link leads', async () => {
  const all = await rules();
  const page = await readFile(PAGE, 'utf8');
  const parts = [...page.matchAll(/^## (Stowage\w+)$/gm)].map(([, name]) => name);
  expect(parts).toEqual(all.map(({ alert }) => alert));
  expect(all.map(({ annotations: { runbook } }) => runbook)).toEqual(
    all.map(({ alert }) => `${PAGE}#${alert.toLowerCase()}`),
  );
});

/**
 * Evaluates three hours of each case's series. `value` is 1 if its alert must fire at the end, or
 * 0.
 * @returns promtool's report of failures
 */
async function wrongOf(
  cases: readonly (readonly [string, Record<string, string>])[],
  value: 0 | 1,
): Promise<string> {
  const folder = await temporaryDirectory('alerts');
  const file = join(folder.path, 'test.yaml');
  const firing = (alert: string) =>
    `count(ALERTS{alertname="${alert}",alertstate="firing"}) > bool 0 or vector(0)`;
  const tests = cases.map(([alert, series]) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      { expr: firing(alert), eval_time: '3h', exp_samples: [{ labels: '{}', value }] },
    ],
  }));
  try {
    await writeFile(
      file,
      stringify({ rule_files: [resolve(FILE)], evaluation_interval: '5m', tests }),
    );
    const { status, said } = promtool('test', 'rules', file);
    if (status !== 0 && !said.includes('alertname=')) throw new Error(`promtool failed: ${said}`);
    return said.replaceAll('\\', '');
  } finally {
    await folder.remove();
  }
}

describe.each([
  ['fires', 1, ALERT_CASES.map(({ alert, fires }) => [alert, fires] as const)],
  ['does not fire', 0, ALERT_CASES.map(({ alert, rests }) => [alert, rests] as const)],
] as const)('a test case in which the alert %s', (_, value, cases) => {
  let said = '';
  beforeAll(async () => {
    said = await wrongOf(cases, value);
  });

  test.each(cases.map(([alert]) => alert))('%s', (alert) => {
    expect(said).not.toContain(`alertname="${alert}"`);
  });
});

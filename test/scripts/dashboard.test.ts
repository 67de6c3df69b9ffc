import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { createMetrics } from '../../src/manager/metrics/metrics.ts';
import {
  alertsOf,
  type DashboardPanel,
  expressionsOf,
  limitOf,
  queryPanels,
  readDashboard,
} from '../support/dashboard.ts';
import { FakeClock } from '../support/fake-clock.ts';

/** Fields of a series that prom-client has, but its types omit. */
interface Kept {
  type: string;
  labelNames: readonly string[];
}

const { registry } = createMetrics({ clock: new FakeClock(), transportOf: () => 'ssh' });
const NAMES = registry.getMetricsAsArray().map(({ name }) => name);

/** Labels by the name of each served series; Prometheus adds `job` and `instance`. */
const LABELS = new Map<string, readonly string[]>(
  NAMES.flatMap((name): [string, string[]][] => {
    const { type, labelNames } = registry.getSingleMetric(name) as unknown as Kept;
    const labels = [...labelNames, 'job', 'instance'];
    if (type !== 'histogram') return [[name, labels]];
    return [
      [`${name}_bucket`, [...labels, 'le']],
      [`${name}_count`, labels],
      [`${name}_sum`, labels],
    ];
  }),
);

const SELECTOR = /([a-z_]\w*)\{([^{}]*)\}/g;
const selectorsOf = (expr: string) =>
  [...expr.matchAll(SELECTOR)].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label),
  }));
const groupsOf = (expr: string) =>
  [...expr.matchAll(/\bby \(([^()]*)\)/g)].flatMap(([, labels = '']) => labels.split(', '));
/** Returns the words of an expression outside of its selectors, groupings and durations. */
const wordsOf = (expr: string) =>
  expr
    .replaceAll(SELECTOR, '')
    .replaceAll(/\bby \([^()]*\)|\[[^\][]*\]/g, '')
    .match(/[a-z_]\w*/g) ?? [];

const WORDS = new Set([
  ...['max', 'sum', 'count', 'rate', 'increase', 'changes', 'histogram_quantile', 'vector'],
  ...['clamp_min', 'min_over_time', 'and', 'or', 'unless'],
]);

const panels = queryPanels();
const rows = panels.map((panel): [string, DashboardPanel] => [`${panel.id} ${panel.title}`, panel]);
const alerts = (
  parse(readFileSync('deploy/alerts.yaml', 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  }
).groups.flatMap(({ rules }) => rules);

describe.each(rows)('the panel %s', (_, panel) => {
  const expressions = expressionsOf(panel);

  test('queries only served series, by labels that they have', () => {
    for (const expr of expressions) {
      const selectors = selectorsOf(expr);
      expect(selectors).not.toEqual([]);
      for (const { name, labels } of selectors) {
        expect(LABELS.get(name) ?? [`no series ${name}`]).toEqual(expect.arrayContaining(labels));
        expect(labels).toContain('job');
      }
      const all = selectors.flatMap(({ name }) => LABELS.get(name) ?? []);
      expect(all).toEqual(expect.arrayContaining(groupsOf(expr)));
      expect(wordsOf(expr).filter((word) => !WORDS.has(word))).toEqual([]);
    }
  });

  test('names series by labels that its queries keep', () => {
    for (const { expr, legendFormat = '' } of panel.targets ?? []) {
      const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
      expect(groupsOf(expr)).toEqual(expect.arrayContaining(named));
    }
    const legends = panel.targets?.map(({ legendFormat }) => legendFormat);
    expect(panel.type === 'table' || new Set(legends).size === legends?.length).toBe(true);
  });

  test('has a description with a page, a unit, and the chosen data source', () => {
    expect(panel.description).toMatch(
      /^[A-Z`][\s\S]+\.\n\n(Series: docs\/metrics|Alert \w+: docs\/alerts)\.md#/,
    );
    expect(panel.fieldConfig?.defaults.unit).toMatch(/./);
    expect(panel.datasource).toEqual({ type: 'prometheus', uid: '$datasource' });
  });

  test('refers to alerts that exist and use its series', () => {
    for (const name of alertsOf(panel)) {
      const { expr = '' } = alerts.find(({ alert }) => alert.toLowerCase() === name) ?? {};
      const shared = expressions.flatMap(selectorsOf).filter((each) => expr.includes(each.name));
      expect([name, shared.length > 0]).toEqual([name, true]);
    }
  });
});

test('each series of the daemon is on a panel, apart from those of the process', () => {
  const shown = panels.flatMap(expressionsOf).flatMap(selectorsOf);
  const isShown = (name: string) =>
    shown.some(
      (each) => each.name.replace(/_(bucket|count|sum)$/, '') === name || each.name === name,
    );
  const hidden = NAMES.filter((name) => !/^(process|nodejs)_/.test(name) && !isShown(name));
  expect(hidden).toEqual([]);
  expect(shown.length).toBeGreaterThan(NAMES.length / 2);
});

test('each alert has a panel that refers to it', () => {
  const named = new Set(panels.flatMap(alertsOf));
  expect(alerts.map(({ alert }) => alert).filter((each) => !named.has(each.toLowerCase()))).toEqual(
    [],
  );
});

/** Limits of counts are 1, where the alert has `> 0`. */
test.each(
  panels.flatMap((panel) => {
    const limit = limitOf(panel);
    return limit === undefined || limit.value === 1
      ? []
      : alertsOf(panel).map((alert) => [panel.title, limit.value, alert] as const);
  }),
)('the limit of "%s", %d, is that of the alert %s', (_title, limit, name) => {
  const { expr = '' } = alerts.find(({ alert }) => alert.toLowerCase() === name) ?? {};
  const limits = [...expr.matchAll(/[<>]\s*([\d.]+)/g)].map(([, value]) => Number(value));
  expect(limits).toContain(limit);
});

test('IDs are unique, and panels overlap neither each other nor the edge of the grid', () => {
  const all = readDashboard().panels;
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  const taken = new Map<string, number>();
  for (const { id, gridPos } of all) {
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect([id, x, y, taken.get(`${x},${y}`)]).toEqual([id, x, y, undefined]);
        taken.set(`${x},${y}`, id);
      }
  }
});

test('titles are unique within a row', () => {
  const titles = new Set<string>();
  let row = '';
  for (const { type, title } of readDashboard().panels) {
    if (type === 'row') row = title;
    const full = `${row}/${title}`;
    expect([full, titles.has(full)]).toEqual([full, false]);
    titles.add(full);
  }
});

test('queries use exactly the variables of the dashboard', () => {
  const { list } = readDashboard().templating;
  const texts = [
    ...panels.flatMap(expressionsOf),
    ...list.map(({ query }) => (typeof query === 'string' ? query : query.query)),
    ...panels.map(({ datasource }) => datasource?.uid ?? ''),
  ];
  const used = texts.flatMap((text) => text.match(/\$\w+/g) ?? []);
  const names = new Set(used.map((each) => each.slice(1)));
  names.delete('__rate_interval');
  expect([...names].sort()).toEqual(list.map(({ name }) => name).sort());
});

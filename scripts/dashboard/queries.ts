/** Queries in PromQL. `$job` selects daemons, `$node` nodes: variables of the dashboard. */
export interface Query {
  expr: string;
  /** Name of each series, as a template of Grafana: `{{kind}} p99`. */
  legend: string;
}

/**
 * Returns a selector of the series of the chosen daemons. Each selector has braces, so that a test
 * finds it.
 * @param matchers more matchers of PromQL: `phase="Failed",node=~"$node"`
 */
export const series = (name: string, matchers = ''): string =>
  `${name}{job=~"$job"${matchers === '' ? '' : `,${matchers}`}}`;

const by = (labels: readonly string[]): string =>
  labels.length === 0 ? '' : ` by (${labels.join(', ')}) `;
const legendOf = (labels: readonly string[]): string =>
  labels.map((label) => `{{${label}}}`).join(' ');

/** Returns the expression of the largest value: daemons that stand by count the same objects. */
export const maximum = (name: string, labels: readonly string[] = [], matchers = ''): string =>
  `max${by(labels)}(${series(name, matchers)})`;

/** Selects the current value of a gauge by labels. */
export const latest = (name: string, labels: readonly string[], matchers = ''): Query => ({
  expr: maximum(name, labels, matchers),
  legend: legendOf(labels),
});

/** Returns the expression of a counter's increase per second by labels. */
export const rate = (name: string, labels: readonly string[] = [], matchers = ''): string =>
  `sum${by(labels)}(rate(${series(name, matchers)}[$__rate_interval]))`;

/** Selects a counter's increase per second by labels. */
export const perSecond = (name: string, labels: readonly string[], matchers = ''): Query => ({
  expr: rate(name, labels, matchers),
  legend: legendOf(labels),
});

/** Selects the increase of a counter by labels within a fixed time, as the alerts do. */
export const increase = (
  name: string,
  within: string,
  labels: readonly string[],
  matchers = '',
): Query => ({
  expr: `sum${by(labels)}(increase(${series(name, matchers)}[${within}]))`,
  legend: legendOf(labels),
});

/** Selects the median and the 99th percentile of a histogram by labels. */
export const percentiles = (name: string, labels: readonly string[], matchers = ''): Query[] =>
  [
    ['0.5', 'p50'],
    ['0.99', 'p99'],
  ].map(([quantile, legend]) => ({
    expr: `histogram_quantile(${quantile}, ${rate(`${name}_bucket`, [...labels, 'le'], matchers)})`,
    legend: [legendOf(labels), legend].join(' ').trim(),
  }));

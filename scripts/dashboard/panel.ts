import type { Query } from './queries.ts';

export interface Panel {
  /** `number`: the current value; `lines`, `areas`: over time; `table`: a row by label set. */
  shows: 'number' | 'lines' | 'areas' | 'table';
  title: string;
  /** Reports the meaning of the values, and the action to take. */
  description: string;
  /** Alerts about these series. All of them have the limit of the panel, if it has one. */
  alerts?: readonly string[];
  /** Width in columns; a row has 24. */
  width: number;
  /** Unit of Grafana: `s`, `bytes`, `ops` (a second), `percentunit` (1 is 100 %), `none`. */
  unit: string;
  /** Values from here on are red; with `lowIsBad`, values below. */
  limit?: number;
  lowIsBad?: boolean;
  /** Titles of a table's columns with the values of the queries, in their order. */
  columns?: readonly string[];
  queries: readonly Query[];
}

export interface Row {
  title: string;
  panels: readonly Panel[];
}

/** Heights in Grafana's units of 30 pixels. */
const HEIGHTS = { number: 4, lines: 8, areas: 8, table: 8 } as const;
const TYPES = { number: 'stat', lines: 'timeseries', areas: 'timeseries', table: 'table' } as const;

/** Refers to a variable of the dashboard. */
export const DATA_SOURCE = { type: 'prometheus', uid: '$datasource' };

export const heightOf = ({ shows }: Panel): number => HEIGHTS[shows];

/** Returns a panel in Grafana's model, at that place in columns and units of height. */
export function panelModel(panel: Panel, id: number, x: number, y: number): object {
  const { shows, title, width, unit, queries } = panel;
  return {
    id,
    type: TYPES[shows],
    title,
    description: described(panel),
    gridPos: { x, y, w: width, h: heightOf(panel) },
    datasource: DATA_SOURCE,
    targets: queries.map(({ expr, legend }, index) => ({
      refId: refId(index),
      datasource: DATA_SOURCE,
      expr,
      ...(shows === 'table'
        ? { format: 'table', instant: true, range: false }
        : { legendFormat: legend }),
    })),
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        color: { mode: shows === 'number' ? 'thresholds' : 'palette-classic' },
        thresholds: { mode: 'absolute', steps: steps(panel) },
        ...styles(panel),
      },
      overrides: [],
    },
    options: OPTIONS[shows],
    ...(shows === 'table' && { transformations: transformations(panel) }),
  };
}

const refId = (index: number): string => String.fromCharCode(65 + index);

/**
 * Returns the description with its pages, as Markdown. Pages are paths, as in the alerts: the
 * documents have no URL.
 */
function described({ description, alerts = [] }: Panel): string {
  const pages = alerts.map((alert) => `Alert ${alert}: docs/alerts.md#${alert.toLowerCase()}`);
  return [description, ...(pages.length === 0 ? ['Series: docs/metrics.md#series'] : pages)].join(
    '\n\n',
  );
}

function steps({ limit, lowIsBad = false }: Panel): object[] {
  if (limit === undefined) return [{ color: 'green', value: null }];
  const [below, above] = lowIsBad ? ['red', 'green'] : ['green', 'red'];
  return [
    { color: below, value: null },
    { color: above, value: limit },
  ];
}

function styles({ shows, limit }: Panel): object {
  if (shows === 'number' || shows === 'table') return {};
  return {
    custom: {
      drawStyle: 'line',
      fillOpacity: shows === 'areas' ? 40 : 5,
      showPoints: 'never',
      stacking: { mode: shows === 'areas' ? 'normal' : 'none', group: 'A' },
      thresholdsStyle: { mode: limit === undefined ? 'off' : 'dashed' },
    },
  };
}

const GRAPH = {
  legend: { displayMode: 'list', placement: 'bottom', showLegend: true, calcs: [] },
  tooltip: { mode: 'multi', sort: 'desc' },
};
const OPTIONS = {
  number: {
    colorMode: 'value',
    graphMode: 'area',
    justifyMode: 'auto',
    orientation: 'auto',
    reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
    textMode: 'auto',
  },
  lines: GRAPH,
  areas: GRAPH,
  table: { showHeader: true, cellHeight: 'sm' },
} as const;

/** Joins the results of the queries by their labels, and names the columns. */
function transformations({ columns = [], queries }: Panel): object[] {
  const values = queries.map((_, index) => `Value #${refId(index)}`);
  return [
    { id: 'merge', options: {} },
    {
      id: 'organize',
      options: {
        excludeByName: { Time: true },
        renameByName: Object.fromEntries(values.map((value, index) => [value, columns[index]])),
      },
    },
  ];
}

import { compactJson } from './json.ts';
import { DATA_SOURCE, heightOf, type Panel, panelModel, type Row } from './panel.ts';
import { ATTACHMENTS } from './rows/attachments.ts';
import { CLAIMS } from './rows/claims.ts';
import { NODES } from './rows/nodes.ts';
import { OVERVIEW } from './rows/overview.ts';
import { PROCESS } from './rows/process.ts';
import { QUEUES } from './rows/queues.ts';
import { SNAPSHOTS } from './rows/snapshots.ts';

const ROWS: readonly Row[] = [OVERVIEW, NODES, ATTACHMENTS, CLAIMS, SNAPSHOTS, QUEUES, PROCESS];

/** Columns of Grafana's grid. */
const COLUMNS = 24;

/**
 * Returns the dashboard for the metrics of `stowage watch`, in Grafana's classic JSON model. Its
 * data source is a variable, so that both an import and a provisioned file work.
 */
export const dashboard = (): string =>
  `${compactJson({
    uid: 'stowage',
    title: 'Stowage',
    description: 'The daemon of Stowage: volumes, nodes, attachments, claims, snapshots.',
    tags: ['stowage'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: {
      list: [
        {
          name: 'datasource',
          label: 'Data source',
          type: 'datasource',
          query: 'prometheus',
          refresh: 1,
          hide: 0,
        },
        // Without an `allValue`: jobs that are no daemons have the series of a process, too.
        chooser('job', 'Job', 'label_values(stowage_informer_age_seconds, job)'),
        {
          ...chooser('node', 'Node', 'label_values(stowage_volumes_size_bytes{job=~"$job"}, node)'),
          allValue: '.*',
        },
      ],
    },
    annotations: { list: [] },
    links: [],
    panels: placed(ROWS),
  })}\n`;

/** Returns a variable of several values of a label, initially all. */
const chooser = (name: string, label: string, query: string) => ({
  name,
  label,
  type: 'query',
  datasource: DATA_SOURCE,
  definition: query,
  query: { query, refId: name },
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  current: { text: ['All'], value: ['$__all'] },
  hide: 0,
});

/** Places panels from left to right, and rows below each other. */
function placed(rows: readonly Row[]): object[] {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: ofRow } of rows) {
    panels.push(rowModel(title, panels.length + 1, y));
    y += 1;
    for (const line of linesOf(ofRow)) {
      let x = 0;
      for (const panel of line) {
        panels.push(panelModel(panel, panels.length + 1, x, y));
        x += panel.width;
      }
      y += Math.max(...line.map(heightOf));
    }
  }
  return panels;
}

function linesOf(panels: readonly Panel[]): Panel[][] {
  const lines: Panel[][] = [];
  let used = COLUMNS;
  for (const panel of panels) {
    if (used + panel.width > COLUMNS) {
      lines.push([]);
      used = 0;
    }
    lines.at(-1)?.push(panel);
    used += panel.width;
  }
  return lines;
}

const rowModel = (title: string, id: number, y: number) => ({
  id,
  type: 'row',
  title,
  collapsed: false,
  gridPos: { x: 0, y, w: COLUMNS, h: 1 },
  panels: [],
});

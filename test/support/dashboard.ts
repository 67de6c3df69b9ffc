import { readFileSync } from 'node:fs';

export const DASHBOARD_FILE = 'deploy/dashboard.json';

/** Panel of Grafana's model, as far as tests read it. Rows have no targets. */
export interface DashboardPanel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: { type: string; uid: string };
  targets?: { refId: string; expr: string; legendFormat?: string }[];
  fieldConfig?: {
    defaults: {
      unit: string;
      thresholds: { steps: { color: string; value: number | null }[] };
    };
  };
}

interface Variable {
  name: string;
  query: string | { query: string };
}

export interface Dashboard {
  templating: { list: Variable[] };
  panels: DashboardPanel[];
}

export const readDashboard = (): Dashboard => JSON.parse(readFileSync(DASHBOARD_FILE, 'utf8'));

/** Returns the panels with queries, without the titles of rows. */
export const queryPanels = (): DashboardPanel[] =>
  readDashboard().panels.filter(({ type }) => type !== 'row');

export const expressionsOf = ({ targets = [] }: DashboardPanel): string[] =>
  targets.map(({ expr }) => expr);

/** Returns the lower-case names of the alerts that a panel's description refers to. */
export const alertsOf = ({ description = '' }: DashboardPanel): string[] =>
  [...description.matchAll(/docs\/alerts\.md#(\w+)/g)].map(([, name = '']) => name);

/** Limit of a panel. Values are red from it on, or below it. */
export interface Limit {
  value: number;
  redBelow: boolean;
}

/** Returns the limit of a panel; undefined without any. */
export function limitOf({ fieldConfig }: DashboardPanel): Limit | undefined {
  const [first, second] = fieldConfig?.defaults.thresholds.steps ?? [];
  if (typeof second?.value !== 'number') return undefined;
  return { value: second.value, redBelow: first?.color === 'red' };
}

/** Replaces the variables as Grafana does for `All`, with scrapes a minute apart. */
export const withVariables = (expr: string): string =>
  expr.replaceAll('$__rate_interval', '10m').replaceAll('$job', '.*').replaceAll('$node', '.*');

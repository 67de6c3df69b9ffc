import { readFile } from 'node:fs/promises';

/** Row of the table in docs/metrics.md. */
export interface DocumentedSeries {
  name: string;
  kind: string;
  labels: string[];
}

const ROW = /^\| `(stowage_\w+)` \| (\w+) \| (.+?) \| .+ \|$/gm;

export async function documentedSeries(): Promise<DocumentedSeries[]> {
  const rows = (await readFile('docs/metrics.md', 'utf8')).matchAll(ROW);
  return [...rows].map(([, name = '', kind = '', labels = '']) => ({
    name,
    kind,
    labels: labels.replaceAll(/[` ]/g, '').split(','),
  }));
}

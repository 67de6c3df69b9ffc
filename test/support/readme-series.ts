import { readFile } from 'node:fs/promises';

/** A row of the README's table of metrics. */
export interface ToldSeries {
  name: string;
  kind: string;
  labels: string[];
}

const ROW = /^\| `(stowage_\w+)` \| (\w+) \| (.+?) \| .+ \|$/gm;

export async function readmeSeries(): Promise<ToldSeries[]> {
  const rows = (await readFile('README.md', 'utf8')).matchAll(ROW);
  return [...rows].map(([, name = '', kind = '', labels = '']) => ({
    name,
    kind,
    labels: labels.replaceAll(/[` ]/g, '').split(','),
  }));
}

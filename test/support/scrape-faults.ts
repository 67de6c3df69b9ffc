import type { DocumentedSeries } from './documented-series.ts';
import { readSamples, type Sample } from './exposition.ts';

const KIND = /^# TYPE (\S+) (\w+)$/gm;
const PART = /_(bucket|sum|count)$/;

const idOf = ({ name, labels }: Sample) =>
  `${name}${JSON.stringify(Object.entries(labels).sort())}`;

/**
 * Returns a sentence for each fault of a scrape, which no state of the process justifies. Checks
 * the scrape itself, the documentation of its series, and the previous scrape of the same process.
 */
export function scrapeFaults(
  body: string,
  told: readonly DocumentedSeries[],
  before?: string,
): string[] {
  const samples = readSamples(body);
  const kinds = new Map([...body.matchAll(KIND)].map(([, name = '', kind = '']) => [name, kind]));
  const familyOf = (name: string) => (kinds.has(name) ? name : name.replace(PART, ''));
  const now = new Map(samples.map((sample) => [idOf(sample), sample.value]));
  const ours = samples.filter(({ name }) => name.startsWith('stowage_'));
  return [
    ...ours.flatMap((sample) => labelFaults(sample, told, familyOf(sample.name))),
    ...samples.flatMap((sample) =>
      Number.isFinite(sample.value) && sample.value >= 0
        ? []
        : [`${idOf(sample)} is ${sample.value}`],
    ),
    ...samples.flatMap((sample) =>
      histogramFaults(sample, samples, kinds.get(familyOf(sample.name))),
    ),
    ...(before === undefined ? [] : readSamples(before)).flatMap((sample) => {
      if (!['counter', 'histogram'].includes(kinds.get(familyOf(sample.name)) ?? '')) return [];
      const id = idOf(sample);
      const value = now.get(id);
      if (value === undefined) return [`${id} was there before`];
      return value < sample.value ? [`${id} went from ${sample.value} to ${value}`] : [];
    }),
  ];
}

function labelFaults(sample: Sample, told: readonly DocumentedSeries[], family: string): string[] {
  const series = told.find(({ name }) => name === family);
  if (series === undefined) return [`of ${sample.name} nothing is told`];
  const wanted = [...series.labels, ...(sample.name.endsWith('_bucket') ? ['le'] : [])];
  const found = Object.keys(sample.labels);
  return wanted.sort().join() === found.sort().join()
    ? []
    : [`${sample.name} has the labels ${found}`];
}

/**
 * Checks a histogram, given its count: buckets are cumulative, the last one contains all, and
 * observations took time.
 */
function histogramFaults(
  { name, labels, value }: Sample,
  samples: readonly Sample[],
  kind?: string,
): string[] {
  if (kind !== 'histogram' || !name.endsWith('_count')) return [];
  const base = name.replace(PART, '');
  const of = Object.entries(labels).sort().join();
  const same = samples.filter(
    ({ name, labels: { le, ...rest } }) =>
      name.startsWith(base) && Object.entries(rest).sort().join() === of,
  );
  const buckets = same
    .filter(({ name }) => name === `${base}_bucket`)
    .map(({ labels, value }) => ({ le: Number(labels.le?.replace('+Inf', 'Infinity')), value }))
    .sort((a, b) => a.le - b.le);
  const sum = same.find(({ name }) => name === `${base}_sum`)?.value ?? Number.NaN;
  const grows = buckets.every((bucket, index) => bucket.value >= (buckets[index - 1]?.value ?? 0));
  const faults = [];
  if (!grows) faults.push(`${base}{${of}} has a bucket that holds less than the one before it`);
  if (buckets.at(-1)?.value !== value) faults.push(`${base}{${of}} has not all in its last bucket`);
  if (value > 0 ? !(sum > 0) : sum !== 0) faults.push(`${base}{${of}} counts ${value} in ${sum} s`);
  return faults;
}

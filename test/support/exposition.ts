/** Sample in Prometheus' text format: `name{label="value"} 1`. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{([^\n]*)\})? (\S+)$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;

/**
 * Returns the samples of a scrape.
 * @throws Error for an invalid line or a duplicate sample
 */
export function readSamples(body: string): Sample[] {
  const seen = new Set<string>();
  return body.split('\n').flatMap((line) => {
    if (line === '' || line.startsWith('# HELP ') || line.startsWith('# TYPE ')) return [];
    const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    const number = /^nan$/i.test(value) ? Number.NaN : Number(value.replace('Inf', 'Infinity'));
    if (name === '' || (Number.isNaN(number) && !/^nan$/i.test(value)))
      throw new Error(`no sample: ${line}`);
    const sample = { name, labels: readLabels(labels), value: number };
    const id = JSON.stringify([name, sample.labels]);
    if (seen.has(id)) throw new Error(`twice: ${line}`);
    seen.add(id);
    return [sample];
  });
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== '') {
    const [all, name = '', value = ''] = LABEL.exec(rest) ?? [];
    if (all === undefined || name in labels) throw new Error(`no label: ${rest}`);
    labels[name] = value.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
    rest = rest.slice(all.length);
  }
  return labels;
}

export function seriesValue(
  samples: Sample[],
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  const wanted = JSON.stringify(Object.entries(labels).sort());
  return samples.find(
    (sample) =>
      sample.name === name && JSON.stringify(Object.entries(sample.labels).sort()) === wanted,
  )?.value;
}

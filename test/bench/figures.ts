/** Returns a quantile: the value below which that share of the values lies. NaN for no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Prints one line of a benchmark: a label and its figures. */
export function printFigures(what: string, ...figures: readonly string[]): void {
  console.log(`${what.padEnd(28)} ${figures.map((figure) => figure.padStart(13)).join('  ')}`);
}

export const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
export const seconds = (value: number): string => `${value.toFixed(1)} s`;
export const times = (value: number): string => `${value.toFixed(2)} ×`;
export const mebibytes = (value: number): string => `${value.toFixed(0)} MiB`;

import { age } from '../../api/age.ts';
import type { Column, StoredObject } from '../kind.ts';

/** Loosely typed as stored: columns read objects that others wrote. */
// biome-ignore lint/suspicious/noExplicitAny: the API's Go types are not written down here.
export type Loose = any;

type Cell = (object: Loose, now: number) => unknown;

export const text = (name: string, cell: Cell): Column => ({ name, type: 'string', cell });
export const count = (name: string, cell: Cell): Column => ({ name, type: 'string', cell });
/** Limits a column to `-o wide`. */
export const wide = (column: Column): Column => ({ ...column, priority: 1 });

export const AGE = text('Age', (object: StoredObject, now) =>
  since(object.metadata.creationTimestamp, now),
);

/** Returns an age such as `5m`, or `<unknown>` without a time. */
export function since(time: string | null | undefined, now: number): string {
  return age(time ?? undefined, now) ?? '<unknown>';
}

export const orNone = (value: unknown) => value || '<none>';

export function size(map: object | undefined): number {
  return Object.keys(map ?? {}).length;
}

const MODES: [mode: string, short: string][] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

/** Abbreviates access modes: `RWO,ROX`. */
export function accessModes(modes: string[] = []): string {
  return MODES.flatMap(([mode, short]) => (modes.includes(mode) ? [short] : [])).join(',');
}

/** Formats matchLabels as metav1.FormatLabelSelector. */
export function selectorText(labels: Record<string, string> | undefined): string {
  const terms = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return terms.length === 0 ? '<none>' : terms.sort().join(',');
}

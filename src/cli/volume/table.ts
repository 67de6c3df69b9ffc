import { age } from '../../api/age.ts';
import { phaseOf } from '../../api/phase.ts';
import type { Volume } from '../../api/volume.ts';
import { readyOf } from './describe.ts';

/** `now` is in ms since the epoch. */
type Column = [heading: string, value: (volume: Volume, now: number) => string | undefined];

const PHASE: Column = ['PHASE', (volume) => phaseOf(volume) ?? 'Unknown'];

const COLUMNS: readonly Column[] = [
  ['NAME', ({ metadata }) => metadata.name],
  ['NODE', ({ spec }) => spec.nodeName],
  PHASE,
  ['DEVICE', ({ status }) => status?.deviceName],
  ['CAPACITY', ({ status }) => status?.capacity],
  ['STORAGECLASS', ({ spec }) => spec.storageClassName],
  ['AGE', ({ metadata }, now) => age(metadata.creationTimestamp, now)],
];

const WIDE: readonly Column[] = [
  ['PATH', ({ status }) => status?.devicePath],
  ['JOB', ({ status }) => status?.job],
  ['REASON', (volume) => readyOf(volume)?.reason],
];

const columnsOf = (wide: boolean) => (wide ? [...COLUMNS, ...WIDE] : COLUMNS);

export const volumeHeadings = (wide: boolean): string[] =>
  columnsOf(wide).map(([heading]) => heading);

/**
 * The cells of a Volume in a table. `gone` is what a watch shows last: deleted, or not among the selected any more.
 * `now` is in ms since the epoch.
 */
export function volumeRow(
  volume: Volume,
  wide: boolean,
  now: number,
  gone = false,
): (string | undefined)[] {
  return columnsOf(wide).map((column) =>
    gone && column === PHASE ? 'Gone' : column[1](volume, now),
  );
}

import { phaseOf } from '../../api/phase.ts';
import type { Volume } from '../../api/volume.ts';
import { age } from '../output/age.ts';
import { table } from '../output/table.ts';
import { readyOf } from './describe.ts';

type Column = [heading: string, value: (volume: Volume, now: number) => string | undefined];

const COLUMNS: readonly Column[] = [
  ['NAME', ({ metadata }) => metadata.name],
  ['NODE', ({ spec }) => spec.nodeName],
  ['PHASE', (volume) => phaseOf(volume) ?? 'Unknown'],
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

/** `now` is in ms since the epoch. */
export function volumeTable(volumes: readonly Volume[], wide: boolean, now: number): string {
  const columns = wide ? [...COLUMNS, ...WIDE] : COLUMNS;
  return table(
    columns.map(([heading]) => heading),
    volumes.map((volume) => columns.map(([, value]) => value(volume, now))),
  );
}

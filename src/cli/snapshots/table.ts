import { age } from '../../api/age.ts';
import type { VolumeSnapshot } from '../../api/snapshot.ts';
import type { Shown } from '../output/watch-printer.ts';
import { phaseOf, snapshotName, sourceText } from './state.ts';

/** `now` is in ms since the epoch. */
type Column = [
  heading: string,
  value: (snapshot: VolumeSnapshot, now: number) => string | undefined,
];

const PHASE: Column = ['PHASE', phaseOf];
const NAMESPACE: Column = ['NAMESPACE', ({ metadata }) => metadata.namespace];

const COLUMNS: readonly Column[] = [
  ['NAME', ({ metadata }) => metadata.name],
  PHASE,
  ['SOURCE', sourceText],
  ['SIZE', ({ status }) => status?.restoreSize],
  ['CLASS', ({ spec }) => spec.volumeSnapshotClassName],
  ['TAKEN', ({ status }, now) => age(status?.creationTime, now)],
  ['AGE', ({ metadata }, now) => age(metadata.creationTimestamp, now)],
];

const WIDE: readonly Column[] = [
  ['CONTENT', ({ status }) => status?.boundVolumeSnapshotContentName],
  ['MESSAGE', ({ status }) => status?.error?.message],
];

/** `all`: of all namespaces, which are shown then. */
export function snapshotRows(all: boolean): Shown<VolumeSnapshot> {
  const columnsOf = (wide: boolean) => [
    ...(all ? [NAMESPACE] : []),
    ...COLUMNS,
    ...(wide ? WIDE : []),
  ];
  return {
    keyOf: ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
    nameOf: ({ metadata }) => snapshotName(metadata.name),
    headings: (wide) => columnsOf(wide).map(([heading]) => heading),
    row: (snapshot, wide, now, gone) =>
      columnsOf(wide).map((column) =>
        gone && column === PHASE ? 'Gone' : column[1](snapshot, now),
      ),
  };
}

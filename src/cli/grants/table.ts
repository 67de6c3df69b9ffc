import { age } from '../../api/age.ts';
import type { GrantRow } from './row.ts';

/** `now` is in ms since the epoch. */
type Column = [heading: string, value: (row: GrantRow, now: number) => string | undefined];

const NAMESPACE: Column = ['NAMESPACE', ({ namespace }) => namespace];

const COLUMNS: readonly Column[] = [
  ['NAME', ({ name }) => name],
  [
    'FROM',
    ({ from }) =>
      [...Map.groupBy(from, ({ namespace }) => namespace)]
        .map(([namespace, each]) => `${namespace} (${each.map((one) => one.for).join(',')})`)
        .join(', '),
  ],
  [
    'TO',
    ({ to }) =>
      to.map(({ kind, name = '*' }) => (kind === 'VolumeSnapshot' ? name : `pvc/${name}`)).join(','),
  ],
  [
    'USED-BY',
    ({ usedBy }) =>
      usedBy
        .map(
          ({ kind, namespace, name }) =>
            `${kind === 'VolumeSnapshotLink' ? 'link ' : ''}${namespace}/${name}`,
        )
        .join(', '),
  ],
  ['AGE', ({ since }, now) => age(since, now)],
];

export const grantHeadings = (all: boolean): string[] =>
  [...(all ? [NAMESPACE] : []), ...COLUMNS].map(([heading]) => heading);

/** The cells of a grant in a table. `now` is in ms since the epoch. */
export const grantCells = (row: GrantRow, all: boolean, now: number): (string | undefined)[] =>
  [...(all ? [NAMESPACE] : []), ...COLUMNS].map(([, value]) => value(row, now));

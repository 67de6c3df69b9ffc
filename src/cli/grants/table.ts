import { age } from '../../api/age.ts';
import type { Shown } from '../output/watch-printer.ts';
import { grantName } from './kinds.ts';
import type { GrantRow } from './row.ts';

/** `now` is in ms since the epoch. */
type Column = [heading: string, value: (row: GrantRow, now: number) => string | undefined];

const NAMESPACE: Column = ['NAMESPACE', ({ namespace }) => namespace];

const FROM: Column = [
  'FROM',
  ({ from }) =>
    [...Map.groupBy(from, ({ namespace }) => namespace)]
      .map(([namespace, each]) => `${namespace} (${each.map((one) => one.for).join(',')})`)
      .join(', '),
];

const COLUMNS: readonly Column[] = [
  ['NAME', ({ name }) => name],
  FROM,
  [
    'TO',
    ({ to }) =>
      to
        .map(({ kind, name = '*' }) => (kind === 'VolumeSnapshot' ? name : `pvc/${name}`))
        .join(','),
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

/** `all`: of all namespaces, which are shown then. */
export function grantRows(all: boolean): Shown<GrantRow> {
  const columns = [...(all ? [NAMESPACE] : []), ...COLUMNS];
  return {
    keyOf: ({ namespace, name }) => `${namespace}/${name}`,
    nameOf: ({ name }) => grantName({ metadata: { name } }),
    headings: () => columns.map(([heading]) => heading),
    row: (grant, _wide, now, gone) =>
      columns.map((column) => (gone && column === FROM ? 'Gone' : column[1](grant, now))),
  };
}

import type { Io } from '../io.ts';
import type { DataFormat } from './data.ts';
import { type Row, table } from './table.ts';

/**
 * Column of a table. `now` is in ms since the epoch. `shows`: only with `-o wide`, only with `-A`,
 * or only with `-w`; `state` shows Gone for things that are deleted, or no longer selected.
 */
export type Column<T> = readonly [
  heading: string,
  text: (thing: T, now: number) => string | undefined,
  shows?: 'wide' | 'all-namespaces' | 'watch' | 'state',
];

export type SortKey<T> = (thing: T) => string | number | bigint;

/** The columns, names and order of the things of a kind. */
export interface View<T> {
  columns: readonly Column<T>[];
  /** On a live table, a thing takes the place of the one before with the same key. */
  keyOf(thing: T): string;
  /** Returns the name that `-o name` prints. */
  nameOf(thing: T): string;
  sort?: {
    /** Keys by the value of --sort-by; the smallest comes first. */
    by: Readonly<Record<string, SortKey<T>>>;
    /** Keys for things that are otherwise equal. */
    ties: readonly SortKey<T>[];
    /** Value without --sort-by; undefined: things keep their order. */
    standard?: string;
  };
}

/** Flags for how things are shown. */
export interface ShowFlags {
  output?: DataFormat | 'name' | 'wide';
  /** Tables have headings. */
  headers: boolean;
  allNamespaces?: boolean;
  watch?: boolean;
  sortBy?: string;
}

export function columnsOf<T>(
  { columns }: Pick<View<T>, 'columns'>,
  { output, allNamespaces, watch }: Pick<ShowFlags, 'output' | 'allNamespaces' | 'watch'>,
): Column<T>[] {
  return columns.filter(
    ([, , shows]) =>
      (shows !== 'wide' || output === 'wide') &&
      (shows !== 'all-namespaces' || allNamespaces) &&
      (shows !== 'watch' || watch),
  );
}

export const headingsOf = <T>(columns: readonly Column<T>[]): string[] =>
  columns.map(([heading]) => heading);

/** Returns the cell of a thing in each column. `now` is in ms since the epoch. */
export const rowOf = <T>(columns: readonly Column<T>[], thing: T, now: number, gone = false): Row =>
  columns.map(([, text, shows]) => (gone && shows === 'state' ? 'Gone' : text(thing, now)));

/** Returns a table of things, fitted to the terminal's width except for `-o wide`. */
export function tableOf<T>(
  view: View<T>,
  things: readonly T[],
  flags: ShowFlags,
  { stdout, clock }: Io,
  isGone: (thing: T) => boolean = () => false,
): string {
  const columns = columnsOf(view, flags);
  const rows = things.map((thing) => rowOf(columns, thing, clock.timeOfDay(), isGone(thing)));
  const width = flags.output === 'wide' ? undefined : stdout.columns;
  return table(headingsOf(columns), rows, { headings: flags.headers, width });
}

export function sorted<T>(
  { sort }: Pick<View<T>, 'sort'>,
  things: readonly T[],
  { sortBy = sort?.standard }: Pick<ShowFlags, 'sortBy'>,
): T[] {
  const first = sortBy === undefined ? undefined : sort?.by[sortBy];
  if (first === undefined || sort === undefined) return [...things];
  const keys = [first, ...sort.ties];
  return things.toSorted((a, b) =>
    keys.reduce((order, key) => order || compare(key(a), key(b)), 0),
  );
}

const compare = (a: ReturnType<SortKey<never>>, b: typeof a): number =>
  a < b ? -1 : Number(a > b);

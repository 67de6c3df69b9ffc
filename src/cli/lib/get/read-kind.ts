import type { Connection } from '../../../kube/connect.ts';
import type { Io } from '../io.ts';
import { type Column, sorted, tableOf } from '../output/view.ts';
import { watchPrinter } from '../output/watch-printer.ts';
import { refuseFilters } from './refuse-filters.ts';
import type { GetFlags, ResourceView } from './resource-view.ts';

/** Things of a kind, as one of several kinds prints them. */
export interface KindThings {
  /** Rows with the kind before their names, as in kubectl. Empty without things. */
  table: string;
  /** Names that `-o name` prints. */
  names: string[];
  /** Kubernetes objects, or the rows that stand for them. */
  data: readonly object[];
  /** Errors of names that could not be read. */
  errors: readonly unknown[];
}

/** Reads a kind for a command of several kinds. */
export interface KindReader {
  /** As in `No volumes found`. */
  plural: string;
  /** Data is Kubernetes objects, which can be in one List with those of other kinds. */
  isOfObjects: boolean;
  /** Throws a StowageError `usage` for flags that exclude names. */
  refuseFilters(): void;
  /** Reads the named things, or all. Throws a StowageError. */
  read(names: readonly string[], io: Io, connection: Connection): Promise<KindThings>;
}

/** Returns the reader of a kind. `flags`: without --watch. */
export const readerOf = <T extends object, F extends GetFlags>(
  view: ResourceView<T, F>,
  flags: F,
): KindReader => ({
  plural: view.plural,
  isOfObjects: view.list !== undefined,
  refuseFilters: () => refuseFilters(view.filters, flags),
  async read(names, io, connection) {
    let things: KindThings = { table: '', names: [], data: [], errors: [] };
    const shown = withKind(view);
    await view.get({
      names,
      flags,
      io,
      connection,
      sorted: (found) => sorted(view, found, flags),
      show(found, errors) {
        const data = sorted(view, found, flags);
        const table = data.length === 0 ? '' : tableOf(shown, data, flags, io);
        things = { table, names: data.map(view.nameOf), data, errors };
      },
      printer: () => watchPrinter(view, flags, io, undefined),
    });
    return things;
  },
});

/** Returns the view with the kind before each name, as in `volume.GROUP/NAME`. */
function withKind<T extends object, F extends GetFlags>(
  view: ResourceView<T, F>,
): ResourceView<T, F> {
  const named = Math.max(
    view.columns.findIndex(([heading]) => heading === 'NAME'),
    0,
  );
  const columns = view.columns.map(([heading, text, ...shows], index): Column<T> => {
    if (index !== named) return [heading, text, ...shows];
    const kindOf = (thing: T) => view.nameOf(thing).split('/')[0];
    return [heading, (thing, now) => `${kindOf(thing)}/${text(thing, now)}`, ...shows];
  });
  return { ...view, columns };
}

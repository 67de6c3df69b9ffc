import type { Io } from '../io.ts';
import { asJson, asYaml } from './data.ts';
import { isScreen } from './is-screen.ts';
import { liveArea } from './live-area.ts';
import { printable } from './printable.ts';
import { streamTable } from './stream-table.ts';
import { type Row, table } from './table.ts';

export interface WatchPrinter<T> {
  /** Those that changed, or are gone: deleted, or not among the selected any more. */
  print(things: readonly T[], gone: boolean): void;
  /** Brings ages up to date. */
  refresh(): void;
  /** Called before something else is written on the terminal. */
  leave(): void;
}

/** How things of one sort are shown. */
export interface Shown<T> {
  /** One with the same key is drawn in the place of the one before. */
  keyOf(thing: T): string;
  /** As `-o name` prints it. */
  nameOf(thing: T): string;
  headings(wide: boolean): string[];
  /** `now` is in ms since the epoch. */
  row(thing: T, wide: boolean, now: number, gone: boolean): Row;
}

export interface WatchPrinterOptions<T> {
  output?: 'json' | 'yaml' | 'name' | 'wide';
  headers?: boolean;
  sort: (things: readonly T[]) => T[];
}

/** A table is drawn again in its place on a terminal; all else is written in lines, or documents, one after another. */
export function watchPrinter<T extends object>(
  as: Shown<T>,
  options: WatchPrinterOptions<T>,
  io: Io,
): WatchPrinter<T> {
  const { output } = options;
  if (output !== 'json' && output !== 'yaml' && output !== 'name' && isScreen(io))
    return redrawn(as, options, io);
  return { print: inLines(as, options, io), refresh() {}, leave() {} };
}

function redrawn<T>(
  as: Shown<T>,
  { output, headers, sort }: WatchPrinterOptions<T>,
  io: Io,
): WatchPrinter<T> {
  const wide = output === 'wide';
  const area = liveArea(io.stdout);
  const shown = new Map<string, T>();
  /** Shown once more. */
  let going = new Set<string>();
  const refresh = () => {
    const rows = sort([...shown.values()]).map((thing) =>
      as.row(thing, wide, io.clock.now(), going.has(as.keyOf(thing))),
    );
    const width = wide ? undefined : io.stdout.columns;
    area.draw(table(as.headings(wide), rows, { headings: headers, width }));
  };
  return {
    print(things, gone) {
      for (const key of going) shown.delete(key);
      for (const thing of things) shown.set(as.keyOf(thing), thing);
      going = new Set(gone ? things.map(as.keyOf) : []);
      refresh();
    },
    refresh,
    leave: area.leave,
  };
}

/** `gone` shows in a table only: as data it is the last state, as kubectl prints it. */
function inLines<T extends object>(
  as: Shown<T>,
  { output, headers }: WatchPrinterOptions<T>,
  io: Io,
): WatchPrinter<T>['print'] {
  const write = (text: string) => void io.stdout.write(text);
  const each = (text: (thing: T) => string) => (things: readonly T[]) => {
    for (const thing of things) write(text(thing));
  };
  switch (output) {
    case 'json':
      return each(asJson);
    case 'yaml':
      return each((thing) => `---\n${asYaml(thing)}`);
    case 'name':
      return each((thing) => `${printable(as.nameOf(thing))}\n`);
    default: {
      const wide = output === 'wide';
      const rows = streamTable(as.headings(wide), write, { headings: headers });
      return (things, gone) =>
        rows(things.map((thing) => as.row(thing, wide, io.clock.now(), gone)));
    }
  }
}

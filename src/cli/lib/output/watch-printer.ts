import { isDeepStrictEqual } from 'node:util';
import type { Io } from '../io.ts';
import { liveArea } from './live-area.ts';
import { printable } from './printable.ts';
import { streamTable } from './stream-table.ts';
import {
  columnsOf,
  headingsOf,
  rowOf,
  type ShowFlags,
  sorted,
  tableOf,
  type View,
} from './view.ts';

export interface WatchPrinter<T> {
  /** Prints things that changed, or are gone: deleted, or no longer selected. */
  print(things: readonly T[], gone: boolean): void;
  /** Refreshes ages. */
  refresh(): void;
  /** Called before something else is written on the terminal. */
  leave(): void;
}

export interface ViewPrinter<T> extends WatchPrinter<T> {
  /** Replaces all things, for a source that reports no changes. */
  replace(things: readonly T[]): void;
}

/**
 * Returns a printer. On a terminal, a table is drawn again in its place; all else is written in
 * lines, or documents, one after another. `format` formats data; undefined for tables and names.
 */
export function watchPrinter<T extends object>(
  view: View<T>,
  flags: ShowFlags,
  io: Io,
  format: ((thing: object) => string) | undefined,
): ViewPrinter<T> {
  const isTable = flags.output === undefined || flags.output === 'wide';
  const isScreen = io.stdout.isTTY && io.env.TERM !== 'dumb';
  return isTable && isScreen ? redrawn(view, flags, io) : inLines(view, flags, io, format);
}

function redrawn<T>(view: View<T>, flags: ShowFlags, io: Io): ViewPrinter<T> {
  const area = liveArea(io.stdout);
  const shown = new Map<string, T>();
  /** Keys of things that are gone, but shown once more. */
  let going = new Set<string>();
  const isGone = (thing: T) => going.has(view.keyOf(thing));
  const refresh = () =>
    area.draw(tableOf(view, sorted(view, [...shown.values()], flags), flags, io, isGone));
  const print = (things: readonly T[], gone: boolean) => {
    for (const key of going) shown.delete(key);
    for (const thing of things) shown.set(view.keyOf(thing), thing);
    going = new Set(gone ? things.map(view.keyOf) : []);
    refresh();
  };
  const replace = (things: readonly T[]) => {
    shown.clear();
    print(things, false);
  };
  return { print, replace, refresh, leave: area.leave };
}

/** Prints lines or documents. Only a table shows `gone`: data is the last state, as in kubectl. */
function inLines<T extends object>(
  view: View<T>,
  flags: ShowFlags,
  io: Io,
  format: ((thing: object) => string) | undefined,
): ViewPrinter<T> {
  const { output } = flags;
  const columns = columnsOf(view, flags);
  const row = (thing: T, gone = false) => rowOf(columns, thing, io.clock.timeOfDay(), gone);
  const print = printIn();
  let last = new Map<string, T>();
  return {
    print,
    replace(things) {
      const before = last;
      last = new Map(things.map((thing) => [view.keyOf(thing), thing]));
      print(
        sorted(view, things, flags).filter((thing) => isNew(thing, before.get(view.keyOf(thing)))),
        false,
      );
    },
    refresh() {},
    leave() {},
  };

  function printIn(): WatchPrinter<T>['print'] {
    const write = (text: string) => void io.stdout.write(text);
    const each = (text: (thing: T) => string) => (things: readonly T[]) => {
      for (const thing of things) write(text(thing));
    };
    if (format) return each((thing) => `${output === 'yaml' ? '---\n' : ''}${format(thing)}`);
    if (output === 'name') return each((thing) => `${printable(view.nameOf(thing))}\n`);
    const rows = streamTable(headingsOf(columns), write, { headings: flags.headers });
    return (things, gone) => rows(things.map((thing) => row(thing, gone)));
  }

  /**
   * Reports whether the output for a thing changed. A table ignores changes of numbers that it does
   * not show; names ignore all changes.
   */
  function isNew(thing: T, before: T | undefined): boolean {
    if (before === undefined) return true;
    if (output === 'name') return false;
    return !isDeepStrictEqual(format ? thing : row(thing), format ? before : row(before));
  }
}

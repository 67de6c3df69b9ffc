import type { Connection } from '../../../kube/connect.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import type { ShowFlags, View } from '../output/view.ts';
import type { ViewPrinter } from '../output/watch-printer.ts';
import type { Filter } from './refuse-filters.ts';

/** The flags of `get`, of which each kind takes some. */
export interface GetFlags extends ShowFlags, GlobalFlags {
  selector?: string;
  node?: string[];
}

/** Run of `get`: the request and its output. */
export interface GetRequest<T, F extends GetFlags = GetFlags> {
  names: readonly string[];
  flags: F;
  io: Io;
  connection: Connection;
  /** Returns things in the requested order. */
  sorted(things: readonly T[]): T[];
  /** Prints things and ends the command: throws the errors of names that could not be read. */
  show(things: readonly T[], errors: readonly unknown[]): void;
  /** For --watch. */
  printer(): ViewPrinter<T>;
}

/** A kind of `stowage get`. */
export interface ResourceView<T extends object, F extends GetFlags = GetFlags> extends View<T> {
  /** As in `No volumes found`. */
  plural: string;
  /** Flags that choose things, so that they cannot be given together with names. */
  filters: readonly Filter[];
  /** Returns several things as data. Default: `{items}`. */
  list?(things: readonly T[]): object;
  /** True if data is a list even for one name, which stands for several things or none. */
  alwaysList?: true;
  /** Reads things, then shows them, or prints them and their changes. Throws a StowageError. */
  get(request: GetRequest<T, F>): Promise<void>;
}

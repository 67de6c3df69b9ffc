import type { Connection } from '../../../kube/connect.ts';
import { conclude } from '../batch.ts';
import type { Io } from '../io.ts';
import { formatterOf } from '../output/data.ts';
import { printable } from '../output/printable.ts';
import { sorted, tableOf } from '../output/view.ts';
import { watchPrinter } from '../output/watch-printer.ts';
import { refuseFilters } from './refuse-filters.ts';
import type { GetFlags, ResourceView } from './resource-view.ts';

/**
 * Runs `stowage get` of one kind. Throws a StowageError. With --watch, runs until the signal
 * aborts, and throws its reason.
 */
export async function get<T extends object, F extends GetFlags>(
  view: ResourceView<T, F>,
  names: readonly string[],
  flags: F,
  io: Io,
  connect: () => Promise<Connection>,
): Promise<void> {
  if (names.length > 0) refuseFilters(view.filters, flags);
  const format = await formatterOf(flags.output);
  await view.get({
    names,
    flags,
    io,
    connection: await connect(),
    sorted: (things) => sorted(view, things, flags),
    show(things, errors) {
      const allFailed = errors.length > 0 && errors.length === names.length;
      if (!allFailed)
        print(view, sorted(view, things, flags), names.length === 1, format, flags, io);
      conclude(errors, names.length, io);
    },
    printer: () => watchPrinter(view, flags, io, format),
  });
}

/** Prints things. `one`: a single name is requested, whose data is one object, for scripts. */
function print<T extends object>(
  view: ResourceView<T, never>,
  things: readonly T[],
  one: boolean,
  format: ((object: object) => string) | undefined,
  flags: GetFlags,
  io: Io,
): void {
  const write = (text: string) => void io.stdout.write(text);
  const { list = (items) => ({ items }) } = view;
  const data = () => (one && !view.alwaysList && things[0]) || list(things);
  const { output } = flags;
  if (format) write(format(data()));
  else if (things.length === 0) io.stderr.write(`No ${view.plural} found\n`);
  else if (output === 'name')
    for (const thing of things) write(`${printable(view.nameOf(thing))}\n`);
  else write(tableOf(view, things, flags, io));
}

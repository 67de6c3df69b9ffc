import { StowageError } from '../../../api/errors.ts';
import type { Connection } from '../../../kube/connect.ts';
import { conclude } from '../batch.ts';
import type { Io } from '../io.ts';
import { formatterOf, listOf } from '../output/data.ts';
import { printable } from '../output/printable.ts';
import type { GetKind } from './get-command.ts';
import type { KindThings } from './read-kind.ts';
import type { GetFlags } from './resource-view.ts';

/** Requested kind, with the names of its objects. */
export interface RequestedKind {
  kind: GetKind;
  /** Empty: all. */
  names: readonly string[];
}

/**
 * Runs `stowage get` of several kinds, each independently of the others. Calls `connect` only for
 * correct usage. Throws a StowageError.
 */
export async function getSeveral(
  requested: readonly RequestedKind[],
  flags: GetFlags,
  io: Io,
  connect: () => Promise<Connection>,
): Promise<void> {
  const kinds = requested.map(({ kind }) => kind);
  if (flags.watch) refuse('--watch takes one kind', kinds, '-w');
  for (const { command } of kinds) {
    if (flags.selector !== undefined && !command.options.some(({ short }) => short === '-l'))
      refuse(`get ${command.name()} takes no --selector`, kinds);
  }
  const format = await formatterOf(flags.output);
  const readers = await Promise.all(
    requested.map(async ({ kind, names }) => ({ kind, names, reader: await kind.load(flags) })),
  );
  for (const { kind, names, reader } of readers) {
    if (names.length > 0) reader.refuseFilters();
    if (format && !reader.isOfObjects)
      refuse(
        `get ${kind.command.name()} prints rows of its own, which no List can have`,
        kinds,
        '-o',
        'json',
      );
  }
  const connection = await connect();
  const found: KindThings[] = [];
  const errors: unknown[] = [];
  let total = 0;
  for (const { reader, names } of readers) {
    try {
      const things = await reader.read(names, io, connection);
      found.push(things);
      errors.push(...things.errors);
      total += Math.max(1, names.length);
    } catch (error) {
      if (io.signal.aborted) throw error;
      errors.push(error);
      total += 1;
    }
  }
  if (errors.length < total) {
    const write = (text: string) => void io.stdout.write(text);
    // As in kubectl, a blank line separates only tables with headings.
    const gap = flags.headers ? '\n' : '';
    if (format) write(format(listOf(found.flatMap(({ data }) => data) as never[])));
    else if (found.every(({ data }) => data.length === 0)) {
      if (errors.length === 0)
        io.stderr.write(`No ${readers.map(({ reader }) => reader.plural).join(' or ')} found\n`);
    } else if (flags.output === 'name')
      for (const name of found.flatMap(({ names }) => names)) write(`${printable(name)}\n`);
    else
      write(
        found
          .map(({ table }) => table)
          .filter((table) => table !== '')
          .join(gap),
      );
  }
  conclude(errors, total, io);
}

/** Throws a StowageError `usage` with the commands that take one kind each. */
function refuse(problem: string, kinds: readonly GetKind[], ...flags: readonly string[]): never {
  const lines = kinds.map(({ command }) => ['stowage get', command.name(), ...flags].join(' '));
  throw new StowageError('usage', problem, { hint: `Run each by itself: ${lines.join('; ')}` });
}

import { isDeepStrictEqual } from 'node:util';
import { codeOf } from '../failure.ts';
import type { Io } from '../io.ts';
import { asJson, asYaml } from '../output/data.ts';
import { isScreen } from '../output/is-screen.ts';
import { liveArea } from '../output/live-area.ts';
import { printable } from '../output/printable.ts';
import { streamTable } from '../output/stream-table.ts';
import { table } from '../output/table.ts';
import { warningLogger } from '../output/warning-logger.ts';
import type { GetNodesFlags } from './get.ts';
import type { NodeRow } from './row.ts';
import { nodeTable } from './table.ts';

/** From the end of a look to the next, in ms: nobody tells when a node goes away or fills up. */
const LOOK_EVERY = 10_000;

/**
 * Looks again and again, until the signal, whose reason is thrown. A table is drawn again in its place on a terminal; else
 * what is new or changed is written in lines, or documents, one after another. Throws what the first look does; a later one
 * that fails is told of, unless to look again would not change it.
 */
export async function watchNodes(
  look: () => Promise<{ rows: NodeRow[]; errors: unknown[] }>,
  flags: GetNodesFlags,
  io: Io,
): Promise<never> {
  const { show, leave } = nodePrinter(flags, io);
  const warn = (error: unknown, then = '') => {
    leave();
    warningLogger(io).warn({ err: error }, `not looked at${then}`);
  };
  const first = await look();
  // Of several, the others are what is to be seen.
  if (first.rows.length === 0 && first.errors.length > 0) throw first.errors[0];
  for (const error of first.errors) warn(error);
  show(first.rows);
  for (;;) {
    await io.clock.sleep(LOOK_EVERY, io.signal).catch(() => {
      throw io.signal.reason;
    });
    try {
      show((await look()).rows);
    } catch (error) {
      if (io.signal.aborted) throw io.signal.reason;
      if (codeOf(error) === 'forbidden') throw error;
      warn(error, ', trying again');
    }
  }
}

interface NodePrinter {
  /** All there are now. */
  show(rows: readonly NodeRow[]): void;
  /** Called before something else is written on the terminal. */
  leave(): void;
}

function nodePrinter({ output, headers }: GetNodesFlags, io: Io): NodePrinter {
  const wide = output === 'wide';
  if ((output === undefined || wide) && isScreen(io)) {
    const area = liveArea(io.stdout);
    const show = (rows: readonly NodeRow[]) => {
      const width = wide ? undefined : io.stdout.columns;
      area.draw(table(...nodeTable(rows, wide), { headings: headers, width }));
    };
    return { show, leave: area.leave };
  }
  const write = writer(output, headers, (text) => void io.stdout.write(text));
  // Free space changes all the time: a table tells of it when it shows.
  const shown = (row: NodeRow) => (output === undefined || wide ? nodeTable([row], wide)[1] : row);
  let last = new Map<string, NodeRow>();
  return {
    show(rows) {
      const isNew = (row: NodeRow) => {
        const before = last.get(row.name);
        return (
          before === undefined ||
          (output !== 'name' && !isDeepStrictEqual(shown(row), shown(before)))
        );
      };
      write(rows.filter(isNew));
      last = new Map(rows.map((row) => [row.name, row]));
    },
    leave() {},
  };
}

function writer(
  output: GetNodesFlags['output'],
  headings: boolean,
  write: (text: string) => void,
): (rows: readonly NodeRow[]) => void {
  const each = (text: (row: NodeRow) => string) => (rows: readonly NodeRow[]) => {
    for (const row of rows) write(text(row));
  };
  if (output === 'json') return each(asJson);
  if (output === 'yaml') return each((row) => `---\n${asYaml(row)}`);
  if (output === 'name') return each(({ name }) => `node/${printable(name)}\n`);
  const wide = output === 'wide';
  const lines = streamTable(nodeTable([], wide)[0], write, { headings });
  return (rows) => lines(nodeTable(rows, wide)[1]);
}

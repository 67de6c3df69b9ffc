import { StowageError } from '../../api/errors.ts';
import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { nodeOf } from '../../controllers/volume/desired-volume.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { about, conclude } from '../batch.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { selected } from '../objects/selector.ts';
import { watchObjects } from '../objects/watch.ts';
import { asJson, asYaml, listOf } from '../output/data.ts';
import { printable } from '../output/printable.ts';
import { table } from '../output/table.ts';
import { type Shown, watchPrinter } from '../output/watch-printer.ts';
import { fullName } from './describe.ts';
import { type SortField, sortVolumes } from './sort.ts';
import { volumeHeadings, volumeRow } from './table.ts';

export interface GetFlags {
  output?: 'json' | 'yaml' | 'name' | 'wide';
  selector?: string;
  node?: string[];
  sortBy?: SortField;
  watch?: boolean;
  /** Whether tables have them. */
  headers: boolean;
}

/** `stowage get volumes`. Throws a StowageError; with --watch it ends only by the signal, which it throws. */
export async function get(
  names: readonly string[],
  flags: GetFlags & GlobalFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  for (const flag of ['selector', 'node'] as const) {
    if (names.length > 0 && flags[flag] !== undefined) {
      throw new StowageError('usage', `Names and --${flag} cannot be given together`);
    }
  }
  const client = await connect();
  const { errors, volumes } = await readVolumes(names, flags, io, client);
  const sort = (all: readonly Volume[]) =>
    flags.sortBy === undefined ? [...all] : sortVolumes(all, flags.sortBy);
  const sorted = sort(volumes);
  if (flags.watch && errors.length === 0) {
    const printer = watchPrinter(AS_ROWS, { ...flags, sort }, io);
    return watchObjects(
      client,
      VOLUMES,
      sorted,
      { ...flags, names, isWanted: isWanted(flags) },
      printer,
      io,
    );
  }
  print(sorted, names.length, errors.length > 0, flags, io);
  conclude(errors, names.length, io);
}

const AS_ROWS: Shown<Volume> = {
  keyOf: ({ metadata }) => metadata.name,
  nameOf: ({ metadata }) => fullName(metadata.name),
  headings: volumeHeadings,
  row: volumeRow,
};

/** On one of the nodes, by where it was made and else by where it is to be. */
const isWanted =
  ({ node }: Pick<GetFlags, 'node'>) =>
  (volume: Volume): boolean =>
    node === undefined || node.includes(nodeOf(volume));

/** Those of the names, else all that are selected and wanted; and why others of the names could not be read. */
export async function readVolumes(
  names: readonly string[],
  flags: Pick<GetFlags, 'selector' | 'node'>,
  io: Io,
  client: KubeClient,
): Promise<{ errors: unknown[]; volumes: Volume[] }> {
  const { signal } = io;
  if (names.length === 0) {
    const { selector } = flags;
    const list = listAll<Volume>(client, VOLUMES, { labelSelector: selector, signal });
    const { items } = await selected(selector, list);
    return { errors: [], volumes: items.filter(isWanted(flags)) };
  }
  const errors: unknown[] = [];
  const volumes: Volume[] = [];
  for (const name of names) {
    try {
      volumes.push(await client.get<Volume>(VOLUMES, name, { signal }));
    } catch (error) {
      if (signal.aborted) throw error;
      errors.push(about(error, { kind: VOLUMES.kind, name }));
    }
  }
  return { errors, volumes };
}

function print(
  volumes: Volume[],
  asked: number,
  failed: boolean,
  { output, headers }: GetFlags,
  io: Io,
): void {
  // What was asked for by one name is one object, for scripts that read it; what could not be had is none.
  const data = () => (asked === 1 && volumes[0] !== undefined ? volumes[0] : listOf(volumes));
  if (failed && volumes.length === 0) return;
  if (output === 'json') io.stdout.write(asJson(data()));
  else if (output === 'yaml') io.stdout.write(asYaml(data()));
  else if (volumes.length === 0) io.stderr.write('No volumes found\n');
  else if (output === 'name') {
    for (const { metadata } of volumes) io.stdout.write(`${printable(fullName(metadata.name))}\n`);
  } else {
    const wide = output === 'wide';
    const rows = volumes.map((volume) => volumeRow(volume, wide, io.clock.now()));
    const width = wide ? undefined : io.stdout.columns;
    io.stdout.write(table(volumeHeadings(wide), rows, { headings: headers, width }));
  }
}

import type { PersistentVolumeClaim } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import type { PopulatorDefinition, VolumePopulator } from '../../api/populator.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  POPULATOR_DEFINITIONS,
  VOLUME_POPULATORS,
} from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import type { Connection } from '../../kube/connect.ts';
import { about, conclude } from '../batch.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { asJson, asYaml } from '../output/data.ts';
import { printable } from '../output/printable.ts';
import { table } from '../output/table.ts';
import { foundIn, reading } from '../volume/read-result.ts';
import { fillsLinks } from './links.ts';
import { type PopulatorRow, rowsOf } from './row.ts';
import { POPULATOR_ROWS } from './table.ts';
import { watchPopulators } from './watch.ts';

export interface GetPopulatorsFlags {
  output?: 'json' | 'yaml' | 'name' | 'wide';
  watch?: boolean;
  /** Whether tables have them. */
  headers: boolean;
}

/**
 * `stowage get populators`: from which kinds volumes are filled, how, and which claims are. Throws a StowageError; with --watch it ends
 * only by the signal, which it throws.
 */
export async function getPopulators(
  names: readonly string[],
  flags: GetPopulatorsFlags & GlobalFlags,
  io: Io,
  { client }: Connection,
): Promise<void> {
  const list = async <T extends KubeObject>(resource: Resource) => {
    const read = await reading(listAll<T>(client, resource, { signal: io.signal }));
    if ('forbidden' in read) io.stderr.write(printable(`note: not looked at: ${read.forbidden}\n`));
    return foundIn(read)?.items ?? [];
  };
  const definitions = await list<PopulatorDefinition>(POPULATOR_DEFINITIONS);
  const populators = await list<VolumePopulator>(VOLUME_POPULATORS);
  const claims = await list<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS);
  const all = rowsOf(definitions, populators, claims, await fillsLinks(client, io));
  const missing = names.filter((name) => !all.some((row) => row.name === name));
  const rows = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
  if (flags.watch && missing.length === 0) return watchPopulators(names, flags, client, io);
  print(rows, names.length, missing.length > 0, flags, io);
  const errors = missing.map((name) =>
    about(new StowageError('not-found', `No populator is registered as ${name}`), {
      kind: POPULATOR_DEFINITIONS.kind,
      name,
    }),
  );
  conclude(errors, names.length, io);
}

function print(
  rows: readonly PopulatorRow[],
  asked: number,
  failed: boolean,
  { output, headers }: GetPopulatorsFlags,
  io: Io,
): void {
  if (failed && rows.length === 0) return;
  const data = () => (asked === 1 && rows[0] !== undefined ? rows[0] : { items: rows });
  if (output === 'json') io.stdout.write(asJson(data()));
  else if (output === 'yaml') io.stdout.write(asYaml(data()));
  else if (rows.length === 0) io.stderr.write('No populators found\n');
  else if (output === 'name') {
    for (const row of rows) io.stdout.write(`${printable(POPULATOR_ROWS.nameOf(row))}\n`);
  } else {
    const wide = output === 'wide';
    const cells = rows.map((row) => POPULATOR_ROWS.row(row, wide, io.clock.now(), false));
    const width = wide ? undefined : io.stdout.columns;
    io.stdout.write(table(POPULATOR_ROWS.headings(wide), cells, { headings: headers, width }));
  }
}

import { StowageError } from '../../api/errors.ts';
import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { nodeOf } from '../../volumes/desired.ts';
import { conclude } from '../batch.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { asJson, asYaml } from '../output/data.ts';
import { printable } from '../output/printable.ts';
import { table } from '../output/table.ts';
import { fullName } from './describe.ts';
import { type SortField, sortVolumes } from './sort.ts';
import { volumeHeadings, volumeRow } from './table.ts';
import { watchVolumes } from './watch.ts';

export interface GetFlags {
  output?: 'json' | 'yaml' | 'name' | 'wide';
  selector?: string;
  node?: string[];
  sortBy?: SortField;
  watch?: boolean;
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
  const { errors, volumes } = await read(names, flags, io, client);
  const sorted = flags.sortBy === undefined ? volumes : sortVolumes(volumes, flags.sortBy);
  if (flags.watch && errors.length === 0) {
    return watchVolumes(client, sorted, { ...flags, names, isWanted: isWanted(flags) }, io);
  }
  print(sorted, names.length, errors.length > 0, flags, io);
  conclude(errors, names.length, io, flags);
}

/** On one of the nodes, by where it was made and else by where it is to be. */
const isWanted =
  ({ node }: GetFlags) =>
  (volume: Volume): boolean =>
    node === undefined || node.includes(nodeOf(volume));

async function read(
  names: readonly string[],
  flags: GetFlags,
  io: Io,
  client: KubeClient,
): Promise<{ errors: unknown[]; volumes: Volume[] }> {
  const { signal } = io;
  if (names.length === 0) {
    const { items } = await listAll<Volume>(client, VOLUMES, { labelSelector: flags.selector, signal });
    return { errors: [], volumes: items.filter(isWanted(flags)) };
  }
  const errors: unknown[] = [];
  const volumes: Volume[] = [];
  for (const name of names) {
    try {
      volumes.push(await client.get<Volume>(VOLUMES, name, { signal }));
    } catch (error) {
      if (signal.aborted) throw error;
      errors.push(error);
    }
  }
  return { errors, volumes };
}

function print(volumes: Volume[], asked: number, failed: boolean, { output }: GetFlags, io: Io): void {
  // What was asked for by one name is one object, for scripts that read it; what could not be had is none.
  const data = () =>
    asked === 1 && volumes[0] !== undefined
      ? volumes[0]
      : { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: volumes };
  if (failed && volumes.length === 0) return;
  if (output === 'json') io.stdout.write(asJson(data()));
  else if (output === 'yaml') io.stdout.write(asYaml(data()));
  else if (volumes.length === 0) io.stderr.write('No volumes found\n');
  else if (output === 'name') {
    for (const { metadata } of volumes) io.stdout.write(`${printable(fullName(metadata.name))}\n`);
  } else {
    const wide = output === 'wide';
    const rows = volumes.map((volume) => volumeRow(volume, wide, io.clock.now()));
    io.stdout.write(table(volumeHeadings(wide), rows));
  }
}

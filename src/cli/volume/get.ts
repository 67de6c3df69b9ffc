import { StowageError } from '../../api/errors.ts';
import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { conclude } from '../batch.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { asJson, asYaml } from '../output/data.ts';
import { fullName } from './describe.ts';
import { volumeTable } from './table.ts';

export interface GetFlags {
  output?: 'json' | 'yaml' | 'name' | 'wide';
  selector?: string;
}

/** `stowage get volumes`. Throws a StowageError. */
export async function get(
  names: readonly string[],
  flags: GetFlags & GlobalFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  if (names.length > 0 && flags.selector !== undefined) {
    throw new StowageError('usage', 'Names and --selector cannot be given together');
  }
  const client = await connect();
  const errors: unknown[] = [];
  const volumes: Volume[] = [];
  if (names.length === 0) {
    const { items } = await listAll<Volume>(client, VOLUMES, {
      labelSelector: flags.selector,
      signal: io.signal,
    });
    volumes.push(...items);
  }
  for (const name of names) {
    try {
      volumes.push(await client.get<Volume>(VOLUMES, name, { signal: io.signal }));
    } catch (error) {
      if (io.signal.aborted) throw error;
      errors.push(error);
    }
  }
  print(volumes, names.length, errors.length > 0, flags, io);
  conclude(errors, names.length, io, flags);
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
    for (const { metadata } of volumes) io.stdout.write(`${fullName(metadata.name)}\n`);
  } else io.stdout.write(volumeTable(volumes, output === 'wide', io.clock.now()));
}

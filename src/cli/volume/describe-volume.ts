import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import type { KubeClient } from '../../kube/types.ts';
import { about, conclude } from '../lib/batch.ts';
import type { Io } from '../lib/io.ts';
import { readConsumers, readEvents } from '../lib/objects/related.ts';
import { foundIn } from '../lib/read-result.ts';
import { description } from './volume-text.ts';

/** Runs `stowage describe volume`. Throws a StowageError. */
export async function describeVolumes(
  names: readonly string[],
  io: Io,
  client: KubeClient,
): Promise<void> {
  const errors: unknown[] = [];
  let printed = 0;
  for (const name of names) {
    try {
      const volume = await client.get<Volume>(VOLUMES, name, { signal: io.signal });
      const consumers = await readConsumers(client, volume, io.signal);
      const events = await readEvents(client, volume, foundIn(consumers.pv), io.signal);
      const text = description({ volume, ...consumers, events }, io.clock.now());
      io.stdout.write(printed === 0 ? text : `\n${text}`);
      printed += 1;
    } catch (error) {
      if (io.signal.aborted) throw error;
      errors.push(about(error, { kind: VOLUMES.kind, name }));
    }
  }
  conclude(errors, names.length, io);
}

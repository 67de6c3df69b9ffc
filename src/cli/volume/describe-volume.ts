import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import type { Describe } from '../lib/describe-command.ts';
import { readConsumers, readEvents } from '../lib/objects/related.ts';
import { foundIn } from '../lib/read-result.ts';
import { description } from './volume-text.ts';

/** Returns what `stowage describe volume` prints. Throws a StowageError. */
export const describeVolume: Describe = async ({ name }, { signal, clock }, { client }) => {
  const volume = await client.get<Volume>(VOLUMES, name, { signal });
  const consumers = await readConsumers(client, volume, signal);
  const events = await readEvents(client, volume, foundIn(consumers.pv), signal);
  return description({ volume, ...consumers, events }, clock.timeOfDay());
};

import { StowageError } from '../../api/errors.ts';
import { RETRY_ANNOTATION } from '../../api/names.ts';
import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { about, conclude } from '../lib/batch.ts';
import type { Io } from '../lib/io.ts';
import { type ChoiceFlags, requireOneWay } from '../lib/objects/choose.ts';
import { printChosen, printDone } from '../lib/objects/print.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { printable } from '../lib/output/printable.ts';
import { chosenVolumes, VOLUME_CHOICE } from './choose.ts';

export interface RetryFlags extends ChoiceFlags {
  output?: 'json' | 'yaml' | 'name';
}

/** Attempts to patch a Volume whose status changes meanwhile. */
const ATTEMPTS = 5;

/**
 * Runs `stowage retry volume`. Calls `connect` only for correct usage. Throws a StowageError.
 */
export async function retry(
  names: readonly string[],
  flags: RetryFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  requireOneWay('retry', VOLUME_CHOICE, names, flags);
  const client = await connect();
  const isListed = names.length === 0;
  const chosen = isListed ? await waiting(flags.selector, io, client) : names;
  const retried: Volume[] = [];
  const errors: unknown[] = [];
  for (const name of chosen) {
    try {
      const volume = await requestRetry(name, io, client);
      if (volume !== undefined) retried.push(volume);
    } catch (error) {
      if (io.signal.aborted) throw error;
      // Others may delete what was listed.
      if (isListed && isNotFound(error)) continue;
      errors.push(about(error, { kind: VOLUMES.kind, name }));
    }
  }
  const { output } = flags;
  if (isListed) printChosen(retried, 'retry requested', output, io);
  else printDone(retried, names.length > 1, 'retry requested', output, io);
  conclude(errors, chosen.length, io);
}

/**
 * Lists the names of the selected Volumes that failed or wait. A note reports those that no daemon
 * reconciled yet, for which there is nothing to retry.
 */
async function waiting(
  selector: string | undefined,
  io: Io,
  client: KubeClient,
): Promise<string[]> {
  const listed = await chosenVolumes(selector, io, client);
  const unready = listed.filter((volume) => !isDone(volume));
  if (listed.length > 0 && unready.length === 0)
    io.stderr.write('note: all these Volumes are ready: nothing to retry\n');
  const isNew = (volume: Volume) => readyOf(volume)?.lastUpdateTime === undefined;
  const fresh = unready.filter(isNew);
  const [first] = fresh;
  if (first !== undefined) {
    const others = fresh.length === 1 ? '' : ` and ${fresh.length - 1} more`;
    io.stderr.write(
      printable(
        `note: Volume ${first.metadata.name}${others}: nothing to retry, since no daemon reconciled it yet\n`,
      ),
    );
  }
  return unready.filter((volume) => !isNew(volume)).map(({ metadata }) => metadata.name);
}

/** Reports whether nothing of a Volume can be retried. */
function isDone(volume: Volume): boolean {
  // A Volume whose expansion fails stays ready.
  const isGrowing = /^GrowVolume\/\d/.test(volume.status?.job ?? '');
  return readyOf(volume)?.status === 'True' && !isGrowing;
}

/** Requests a retry. Returns undefined, with a note, for a Volume that is ready. */
async function requestRetry(
  name: string,
  { signal, stderr }: Io,
  client: KubeClient,
): Promise<Volume | undefined> {
  for (let attempt = 1; ; attempt++) {
    const volume = await client.get<Volume>(VOLUMES, name, { signal });
    const ready = readyOf(volume);
    if (isDone(volume)) {
      stderr.write(printable(`note: Volume ${name} is ready: nothing to retry\n`));
      return undefined;
    }
    if (ready?.lastUpdateTime === undefined) {
      throw new StowageError(
        'conflict',
        `Volume ${name} has nothing to retry: no daemon reconciled it yet`,
        {
          hint: `See why: stowage why volume ${name}`,
        },
      );
    }
    const { uid, resourceVersion } = volume.metadata;
    const annotations = { [RETRY_ANNOTATION]: ready.lastUpdateTime };
    // The request is for the failure that was read: a later one has another time.
    const metadata = { uid, resourceVersion, annotations };
    try {
      return await client.patch<Volume>(VOLUMES, name, { metadata }, { signal });
    } catch (error) {
      if (!isConflict(error) || attempt === ATTEMPTS) throw error;
    }
  }
}

import { StowageError } from '../../api/errors.ts';
import { RETRY_ANNOTATION } from '../../api/names.ts';
import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { isConflict } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { about, conclude } from '../lib/batch.ts';
import type { Io } from '../lib/io.ts';
import { printDone } from '../lib/objects/print.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { printable } from '../lib/output/printable.ts';

export interface RetryFlags {
  output?: 'json' | 'yaml' | 'name';
}

/** Attempts to patch a Volume whose status changes meanwhile. */
const ATTEMPTS = 5;

/** Runs `stowage retry volume`. Throws a StowageError. */
export async function retry(
  names: readonly string[],
  flags: RetryFlags,
  io: Io,
  client: KubeClient,
): Promise<void> {
  const retried: Volume[] = [];
  const errors: unknown[] = [];
  for (const name of names) {
    try {
      const volume = await requestRetry(name, io, client);
      if (volume !== undefined) retried.push(volume);
    } catch (error) {
      if (io.signal.aborted) throw error;
      errors.push(about(error, { kind: VOLUMES.kind, name }));
    }
  }
  printDone(retried, names.length > 1, 'retry requested', flags.output, io);
  conclude(errors, names.length, io);
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
    // A Volume whose expansion fails stays ready.
    const isGrowing = /^GrowVolume\/\d/.test(volume.status?.job ?? '');
    if (ready?.status === 'True' && !isGrowing) {
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

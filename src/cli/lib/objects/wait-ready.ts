import { StowageError } from '../../../api/errors.ts';
import type { KubeObject } from '../../../api/meta.ts';
import { VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { waitFor } from '../../../kube/wait.ts';
import { about } from '../batch.ts';
import type { Io } from '../io.ts';
import { showProgress } from '../output/progress.ts';
import { progressOf, readyOf } from './volume-progress.ts';

/**
 * Waits for Volumes in parallel until they can be used, for at most `timeoutMs`. Returns the last
 * state of those that are ready, with all objects of other kinds, and the errors of the rest.
 */
export async function untilReady(
  objects: readonly KubeObject[],
  timeoutMs: number,
  io: Io,
  client: KubeClient,
): Promise<{ ready: KubeObject[]; errors: unknown[] }> {
  const volumes = objects.filter(({ kind }) => kind === VOLUMES.kind);
  const outcomes = await showProgress(
    io,
    volumes.map(({ metadata: { name, uid } }) => ({
      title: name,
      run: (tell: (state: string) => void) =>
        waitFor<Volume>(client, VOLUMES, name, {
          until: (volume) => isReady(name, uid, volume),
          timeoutMs,
          onChange: (volume) => tell(volume === undefined ? 'gone' : progressOf(volume)),
          signal: io.signal,
          clock: io.clock,
        }),
    })),
  );
  const ended = new Map(volumes.map((volume, index) => [volume, outcomes[index]]));
  const ready: KubeObject[] = [];
  const errors: unknown[] = [];
  for (const object of objects) {
    const outcome = ended.get(object);
    if (outcome?.status === 'rejected') {
      errors.push(about(outcome.reason, { kind: object.kind, name: object.metadata.name }));
    } else ready.push(outcome?.value ?? object);
  }
  return { ready, errors };
}

/** Reports whether a Volume is ready. Throws a StowageError if it never will be. */
function isReady(name: string, uid: string | undefined, volume: Volume | undefined): boolean {
  if (volume === undefined || volume.metadata.uid !== uid) {
    throw new StowageError('not-found', `Volume ${name} was deleted while it was waited for`);
  }
  const ready = readyOf(volume);
  if (ready?.status === 'False') {
    throw new StowageError('failed', `Volume ${name} failed: ${ready.reason}: ${ready.message}`, {
      hint: `Once the cause is removed, delete it and create it again: stowage delete volume ${name}`,
    });
  }
  return ready?.status === 'True';
}

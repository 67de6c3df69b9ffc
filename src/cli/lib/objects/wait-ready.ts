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
      const { name } = object.metadata;
      errors.push(about(withVolumeHint(outcome.reason, name), { kind: object.kind, name }));
    } else ready.push(outcome?.value ?? object);
  }
  return { ready, errors };
}

/** Returns a timeout with a hint about its Volume, and any other error unchanged. */
export function withVolumeHint(error: unknown, name: string): unknown {
  if (!(error instanceof StowageError) || error.code !== 'timeout') return error;
  return new StowageError('timeout', error.message, {
    hint: `It continues where stowage watch runs. Find out what holds it up: stowage why volume ${name}`,
    cause: error,
  });
}

/** Reports whether a Volume is ready. Throws a StowageError if it never will be. */
function isReady(name: string, uid: string | undefined, volume: Volume | undefined): boolean {
  if (volume === undefined || volume.metadata.uid !== uid) {
    throw new StowageError('not-found', `Volume ${name} was deleted during the wait`);
  }
  const ready = readyOf(volume);
  if (ready?.status === 'False') {
    throw new StowageError('failed', `Volume ${name} failed: ${ready.reason}: ${ready.message}`, {
      hint: `Find out how to fix it: stowage why volume ${name}`,
    });
  }
  return ready?.status === 'True';
}

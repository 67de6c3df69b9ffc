import { StowageError } from '../../api/errors.ts';
import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import type { KubeClient } from '../../kube/types.ts';
import { waitFor } from '../../kube/wait.ts';
import { about } from '../lib/batch.ts';
import type { Io } from '../lib/io.ts';
import { progressOf, readyOf } from '../lib/objects/volume-progress.ts';
import { whyHint, withTimeoutHint } from '../lib/objects/wait-volumes.ts';
import { showProgress } from '../lib/output/progress.ts';

/** Waits in parallel until Volumes are gone. Returns those that are, and errors of the others. */
export async function untilGone(
  volumes: readonly Volume[],
  timeoutMs: number,
  io: Io,
  client: KubeClient,
): Promise<{ gone: Volume[]; errors: unknown[] }> {
  const outcomes = await showProgress(
    io,
    volumes.map(({ metadata: { name, uid } }) => ({
      title: name,
      run: async (report: (state: string) => void) => {
        await waitFor<Volume>(client, VOLUMES, name, {
          until: (volume) => isGone(name, uid, volume),
          timeoutMs,
          onChange: (volume) => report(volume === undefined ? 'gone' : progressOf(volume)),
          signal: io.signal,
          clock: io.clock,
        });
      },
    })),
  );
  const gone: Volume[] = [];
  const errors: unknown[] = [];
  for (const [index, volume] of volumes.entries()) {
    const outcome = outcomes[index];
    if (outcome?.status === 'rejected') {
      const { name } = volume.metadata;
      const error = withTimeoutHint(outcome.reason, whyHint(volume));
      errors.push(about(error, { kind: VOLUMES.kind, name }));
    } else gone.push(volume);
  }
  return { gone, errors };
}

/** Reports whether a Volume is gone. Throws a StowageError if its storage could not be removed. */
function isGone(name: string, uid: string | undefined, volume: Volume | undefined): boolean {
  if (volume === undefined || volume.metadata.uid !== uid) return true;
  const ready = readyOf(volume);
  if (ready?.status === 'False' && ready.reason === 'DestructionError') {
    throw new StowageError('failed', `Volume ${name} could not be removed: ${ready.message}`, {
      hint: `It is retried until it succeeds. Find out what blocks it: stowage why volume ${name}`,
    });
  }
  return false;
}

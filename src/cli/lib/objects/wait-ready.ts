import { StowageError } from '../../../api/errors.ts';
import type { KubeObject } from '../../../api/meta.ts';
import { VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { waitFor } from '../../../kube/wait.ts';
import { nodeOf } from '../../../model/desired-volume.ts';
import { about } from '../batch.ts';
import type { Io } from '../io.ts';
import { abandonedLease, readLeases } from '../leaders.ts';
import { printable } from '../output/printable.ts';
import { showProgress } from '../output/progress.ts';
import { foundIn } from '../read-result.ts';
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
  if (volumes.length > 0) await noteNoDaemon(volumes as Volume[], io, client);
  const outcomes = await showProgress(
    io,
    volumes.map(({ metadata: { name, uid } }) => ({
      title: name,
      run: (report: (state: string) => void) =>
        waitFor<Volume>(client, VOLUMES, name, {
          until: (volume) => isReady(name, uid, volume),
          timeoutMs,
          onChange: (volume) => report(volume === undefined ? 'gone' : progressOf(volume)),
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

/**
 * Prints a note if no daemon leads for a node of the Volumes. Prints none if Leases cannot be read,
 * or if none exists: a daemon with --leader-election=false has none.
 */
async function noteNoDaemon(
  volumes: readonly Volume[],
  { clock, signal, stderr }: Io,
  client: KubeClient,
): Promise<void> {
  const read = await readLeases(client, signal).catch(() => undefined);
  const leases = (read && foundIn(read)) ?? [];
  const isAlone = (node: string | undefined) =>
    abandonedLease(leases, node, clock.timeOfDay()) !== undefined;
  const nodes = [...new Set(volumes.map(nodeOf))].filter(isAlone);
  if (nodes.length === 0) return;
  const which = isAlone(undefined) ? '' : ` for node ${nodes.join(', ')}`;
  stderr.write(
    printable(
      `note: no daemon leads${which}; Volumes are provisioned once one does (stowage check cluster)\n`,
    ),
  );
}

/** Returns a timeout with a hint about its Volume, and any other error unchanged. */
export function withVolumeHint(error: unknown, name: string): unknown {
  if (!(error instanceof StowageError) || error.code !== 'timeout') return error;
  return new StowageError('timeout', error.message, {
    hint: `The daemon continues it. Find out what holds it up: stowage why volume ${name}`,
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

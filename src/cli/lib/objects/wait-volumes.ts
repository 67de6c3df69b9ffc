import { StowageError } from '../../../api/errors.ts';
import { VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { waitFor } from '../../../kube/wait.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import { about } from '../batch.ts';
import { commandLine } from '../command-line.ts';
import type { Io } from '../io.ts';
import { abandonedLease, readLeases } from '../leaders.ts';
import { printable } from '../output/printable.ts';
import { showProgress } from '../output/progress.ts';
import { foundIn } from '../read-result.ts';
import { progressOf } from './volume-progress.ts';

export interface VolumeWait {
  /** ms */
  timeoutMs: number;
  /** Reports whether the wait for a Volume ends. Throws a StowageError if it never can. */
  isDone(volume: Volume): boolean;
  /** Returns the hint of a timeout. */
  hintOf(volume: Volume): string;
  /** Event that needs a daemon, in the note that none leads: `Volumes are provisioned`. */
  work: string;
}

/**
 * Waits for Volumes in parallel, and shows their states on standard error. Returns the last state
 * of those that are done, and the errors of the others, `not-found` for those deleted meanwhile.
 */
export async function untilVolumes(
  volumes: readonly Volume[],
  { timeoutMs, isDone, hintOf, work }: VolumeWait,
  io: Io,
  client: KubeClient,
): Promise<{ done: Volume[]; errors: unknown[] }> {
  if (volumes.length > 0) await noteNoDaemon(volumes, work, io, client);
  const outcomes = await showProgress(
    io,
    volumes.map(({ metadata: { name, uid } }) => ({
      title: name,
      run: (report: (state: string) => void) =>
        waitFor<Volume>(client, VOLUMES, name, {
          until: (now) => {
            if (now === undefined || now.metadata.uid !== uid)
              throw new StowageError('not-found', `Volume ${name} was deleted during the wait`);
            return isDone(now);
          },
          timeoutMs,
          onChange: (now) => report(now === undefined ? 'gone' : progressOf(now)),
          signal: io.signal,
          clock: io.clock,
        }),
    })),
  );
  const done: Volume[] = [];
  const errors: unknown[] = [];
  for (const [index, volume] of volumes.entries()) {
    const outcome = outcomes[index];
    if (outcome?.status === 'rejected') {
      const error = withTimeoutHint(outcome.reason, hintOf(volume));
      errors.push(about(error, { kind: VOLUMES.kind, name: volume.metadata.name }));
    } else done.push(outcome?.value ?? volume);
  }
  return { done, errors };
}

/** Returns a timeout with a hint, and any other error unchanged. */
export function withTimeoutHint(error: unknown, hint: string): unknown {
  if (!(error instanceof StowageError) || error.code !== 'timeout') return error;
  return new StowageError('timeout', error.message, { hint, cause: error });
}

/** Returns the hint of a timeout for work that the daemon continues. */
export const whyHint = ({ metadata }: Volume): string =>
  `The daemon continues it. Find out what holds it up: ${commandLine('stowage', 'why', 'volume', metadata.name)}`;

/**
 * Prints a note if no daemon leads for a node of the Volumes. Prints none if Leases cannot be read,
 * or if none exists: a daemon with --leader-election=false has none.
 */
async function noteNoDaemon(
  volumes: readonly Volume[],
  work: string,
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
    printable(`note: no daemon leads${which}; ${work} once one does (stowage check cluster)\n`),
  );
}

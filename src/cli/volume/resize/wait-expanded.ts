import { StowageError } from '../../../api/errors.ts';
import type { ReasonCode } from '../../../api/reasons.ts';
import { VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { isToGrow } from '../../../controllers/volume/expansion.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { desiredOf } from '../../../model/desired-volume.ts';
import { parseJobName } from '../../../model/job-name.ts';
import { commandLine } from '../../lib/command-line.ts';
import type { Io } from '../../lib/io.ts';
import { readyOf } from '../../lib/objects/volume-progress.ts';
import { isReady } from '../../lib/objects/wait-ready.ts';
import { untilVolumes, whyHint } from '../../lib/objects/wait-volumes.ts';

/**
 * Failed attempts that end the wait. The first one may only show that something else changed the
 * storage at the same time.
 */
const FAILED_ATTEMPTS = 2;

const REFUSED: ReasonCode = 'CannotGrow';

/** Returns the number of the current attempt to expand a Volume; 0 if there is none. */
const attemptOf = ({ status }: Volume): number => {
  const { kind, attempt } = parseJobName(status?.job) ?? {};
  return kind === 'GrowVolume' ? (attempt ?? 0) : 0;
};

/**
 * Reports whether a Volume has its size, once its status is about its present spec. Throws a
 * StowageError `failed` if the expansion fails, or the Volume.
 * @param before attempt when the size was requested; 0 if there was none
 */
export function isExpanded(volume: Volume, before: number): boolean {
  const { metadata, status = {} } = volume;
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) return false;
  const isUsable = isReady(volume);
  const attempt = attemptOf(volume);
  const ready = readyOf(volume);
  if (ready?.detail?.code === REFUSED || attempt >= Math.max(before, 1) + FAILED_ATTEMPTS)
    throw notExpanded(volume);
  return (
    isUsable && attempt === 0 && !isToGrow(desiredOf(volume, undefined), status.capacity ?? '0')
  );
}

function notExpanded(volume: Volume): StowageError {
  const { name } = volume.metadata;
  const { message, detail } = readyOf(volume) ?? {};
  return new StowageError('failed', `Volume ${name} was not expanded: ${message}`, {
    hint: `It stays usable, and is tried again. Find out how to fix it: ${commandLine('stowage', 'why', 'volume', name)}`,
    object: { kind: VOLUMES.kind, name },
    ...(detail && { detail }),
  });
}

/** Waits until a Volume has its new size. Throws a StowageError if it does not get it. */
export async function untilExpanded(
  volume: Volume,
  timeoutMs: number,
  io: Io,
  client: KubeClient,
): Promise<Volume> {
  const before = attemptOf(volume);
  const wait = {
    timeoutMs,
    isDone: (now: Volume) => isExpanded(now, before),
    hintOf: whyHint,
    work: 'Volumes are expanded',
  };
  const { done, errors } = await untilVolumes([volume], wait, io, client);
  const [error] = errors;
  if (error !== undefined) throw error;
  return done[0] ?? volume;
}

import { StowageError } from '../../../api/errors.ts';
import type { KubeObject } from '../../../api/meta.ts';
import type { ReasonCode } from '../../../api/reasons.ts';
import { VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import type { KubeClient } from '../../../kube/types.ts';
import type { Io } from '../io.ts';
import { readyOf } from './volume-progress.ts';
import { untilVolumes, whyHint } from './wait-volumes.ts';

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
  const volumes = objects.filter(({ kind }) => kind === VOLUMES.kind) as Volume[];
  const wait = { timeoutMs, isDone: isReady, hintOf: whyHint, work: 'Volumes are provisioned' };
  const { done, errors } = await untilVolumes(volumes, wait, io, client);
  const states = new Map(done.map((volume) => [volume.metadata.uid, volume]));
  const ready = objects.flatMap((object) =>
    object.kind === VOLUMES.kind ? (states.get(object.metadata.uid) ?? []) : [object],
  );
  return { ready, errors };
}

const TOOL_MISSING: ReasonCode = 'ProbeToolMissing';

/**
 * Reports whether a Volume is ready. Throws a StowageError if it never will be, or only once a
 * person has installed a program on its node.
 */
export function isReady(volume: Volume): boolean {
  const ready = readyOf(volume);
  if (ready?.status === 'False' || ready?.detail?.code === TOOL_MISSING) {
    const { name } = volume.metadata;
    throw new StowageError('failed', `Volume ${name} failed: ${ready.reason}: ${ready.message}`, {
      hint: `Find out how to fix it: stowage why volume ${name}`,
    });
  }
  return ready?.status === 'True';
}

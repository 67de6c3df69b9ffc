import { READY_REASON } from '../../api/names.ts';
import type { Volume } from '../../api/volume.ts';
import { NodeError } from '../../nodes/errors.ts';
import type { Executor, Job, JobKey, JobState, ProbeResult } from '../../nodes/job.ts';
import { withHint } from '../../nodes/job-text.ts';
import { firstProbes, observe as look } from '../../storage/observe.ts';
import { ObservationError } from '../../storage/probe-results.ts';
import type { Observed } from '../../storage/registry.ts';
import { desiredOf } from './desired-volume.ts';
import { jobKey, parseJobName } from './job-name.ts';
import { withOwners } from './resolve-owners.ts';
import type { VolumeSource } from './source.ts';
import type { Answer } from './types.ts';

/** How long to wait for a job in the round trip that starts it, in ms: most end within it. */
const SUBMIT_WAIT = 1500;

/** The root folder of the kubelets, where that is not the usual one: a node lets nobody look into any other. */
export interface NodePlaces {
  kubeletRoot?: string | undefined;
}

const desiredAt = (
  volume: Volume,
  node: string,
  source: VolumeSource | undefined,
  { kubeletRoot }: NodePlaces,
) => ({
  ...desiredOf(volume, undefined, node, source),
  ...(kubeletRoot !== undefined && { kubeletRoot }),
});

/**
 * Looks at all that concerns a Volume on its node.
 * @param seen what its first look found already
 * @param source what it is made from, while it is made
 */
export function observe(
  executor: Executor,
  volume: Volume,
  node: string,
  volumeOfUid: (uid: string) => Volume | undefined,
  seen?: ReadonlyMap<string, ProbeResult>,
  source?: VolumeSource,
  places: NodePlaces = {},
): Promise<Answer<Observed>> {
  let first = seen;
  return answered(async () => {
    const desired = desiredAt(volume, node, source, places);
    const observed = await look((probes) => {
      const known = first ?? executor.observe(node, probes);
      first = undefined;
      return Promise.resolve(known);
    }, desired);
    return withOwners(observed, desired.uid, volumeOfUid);
  });
}

/** The state of the job that `status.job` names. */
export function poll(executor: Executor, volume: Volume, node: string): Promise<Answer<JobState>> {
  return answered(async () => (await executor.poll(node, [keyOf(volume)], 0))[0] as JobState);
}

export function submit(
  executor: Executor,
  volume: Volume,
  node: string,
  steps: Job['steps'],
  source?: VolumeSource,
  places: NodePlaces = {},
): Promise<Answer<JobState>> {
  const desired = desiredAt(volume, node, source, places);
  const job = { key: keyOf(volume), steps, look: firstProbes(desired) };
  return answered(() => executor.submit(node, job, SUBMIT_WAIT));
}

/** Runs steps beside a job of the Volume that runs, which they would wait for under its subject. */
export function besides(
  executor: Executor,
  { metadata: { uid = '' } }: Volume,
  node: string,
  name: 'cancel' | 'directory' | 'path',
  steps: Job['steps'],
): Promise<Answer<JobState>> {
  const subject = `${name}-${uid}`;
  return answered(async () => {
    const state = await executor.submit(node, { key: { subject, id: name }, steps }, SUBMIT_WAIT);
    await executor.forget(node, subject);
    return state;
  });
}

export function forgetJobs(
  executor: Executor,
  volume: Volume,
  node: string,
): Promise<Answer<boolean>> {
  return answered(() => executor.forget(node, volume.metadata.uid ?? ''));
}

function keyOf(volume: Volume): JobKey {
  const job = parseJobName(volume.status?.job);
  if (job?.attempt === undefined) {
    throw new Error(`volume ${volume.metadata.name} has no job under way: ${volume.status?.job}`);
  }
  return jobKey(volume.metadata.uid ?? '', job.kind, job.attempt);
}

/** A node that can't be asked, or whose answer says nothing safe, leaves things unknown. */
async function answered<T>(ask: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { known: await ask() };
  } catch (error) {
    if (error instanceof NodeError) {
      const { code, message, hint } = error;
      return {
        unknown: withHint(message, hint),
        reason: code === 'protocol' ? READY_REASON.nodeUnclear : READY_REASON.nodeUnreachable,
      };
    }
    if (error instanceof ObservationError) {
      return { unknown: error.message, reason: READY_REASON.nodeUnclear };
    }
    throw error;
  }
}

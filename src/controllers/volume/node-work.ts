import { READY_REASON } from '../../api/names.ts';
import type { Volume } from '../../api/volume.ts';
import type { VolumeSource } from '../../model/desired-volume.ts';
import { desiredOf } from '../../model/desired-volume.ts';
import { withDeviceOwners } from '../../model/device-owners.ts';
import { jobKey, parseJobName } from '../../model/job-name.ts';
import type { Executor, Job, JobKey, JobState, ProbeResult } from '../../nodes/job.ts';
import type { JobRunner } from '../../nodes/job-runner.ts';
import { firstProbes, observe as observeStorage } from '../../storage/observe.ts';
import type { Observed } from '../../storage/registry.ts';
import { answered as answeredBy } from '../lib/answered.ts';
import type { Answer } from './types.ts';

/**
 * Root directory of the kubelets, unless the default: nodes allow no other directory to be read.
 */
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
 * Observes a Volume's storage on its node.
 * @param seen results of the first probes that are already available
 * @param source source of the volume while it is provisioned
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
    const observed = await observeStorage((probes) => {
      const known = first ?? executor.observe(node, probes);
      first = undefined;
      return Promise.resolve(known);
    }, desired);
    return withDeviceOwners(observed, desired.uid, volumeOfUid);
  });
}

export function submit(
  jobs: JobRunner,
  volume: Volume,
  node: string,
  steps: Job['steps'],
  source?: VolumeSource,
  places: NodePlaces = {},
): Promise<Answer<JobState>> {
  const probes = firstProbes(desiredAt(volume, node, source, places));
  return answered(() => jobs.submit(node, { key: keyOf(volume), steps, finalProbes: probes }));
}

/**
 * Runs steps beside a running job of the Volume: under the Volume's subject, they would wait for
 * that job.
 */
export function besides(
  jobs: JobRunner,
  { metadata: { uid = '' } }: Volume,
  node: string,
  name: 'cancel' | 'directory' | 'path',
  steps: Job['steps'],
): Promise<Answer<JobState>> {
  const subject = `${name}-${uid}`;
  return answered(async () => {
    const state = await jobs.submit(node, { key: { subject, id: name }, steps });
    await jobs.purge(node, subject);
    return state;
  });
}

/** Returns the key of the job that `status.job` names. */
export function keyOf(volume: Volume): JobKey {
  const job = parseJobName(volume.status?.job);
  if (job?.attempt === undefined) {
    throw new Error(`volume ${volume.metadata.name} has no running job: ${volume.status?.job}`);
  }
  return jobKey(volume.metadata.uid ?? '', job.kind, job.attempt);
}

/**
 * Returns the result of a node request, or why it is unknown: the node cannot be reached, or its
 * response allows no safe conclusion.
 */
export const answered = <T>(ask: () => Promise<T>): Promise<Answer<T>> =>
  answeredBy(
    async () => ({ known: await ask() }),
    ({ code, message, detail }) => ({
      unknown: message,
      detail,
      reason:
        code === undefined || code === 'protocol'
          ? READY_REASON.nodeUnclear
          : READY_REASON.nodeUnreachable,
    }),
  );

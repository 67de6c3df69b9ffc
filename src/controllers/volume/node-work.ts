import { READY_REASON } from '../../api/names.ts';
import type { Volume } from '../../api/volume.ts';
import type { VolumeSource } from '../../model/desired-volume.ts';
import { desiredOf } from '../../model/desired-volume.ts';
import { withDeviceOwners } from '../../model/device-owners.ts';
import { jobKey, parseJobName } from '../../model/job-name.ts';
import type { Executor, Job, JobKey, JobState, ProbeResult } from '../../nodes/job.ts';
import type { JobRunner } from '../../nodes/job-runner.ts';
import { firstProbes, observe as look } from '../../storage/observe.ts';
import type { Observed } from '../../storage/registry.ts';
import { answered as answeredBy } from '../lib/answered.ts';
import type { Answer } from './types.ts';

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
  const look = firstProbes(desiredAt(volume, node, source, places));
  return answered(() => jobs.submit(node, { key: keyOf(volume), steps, look }));
}

/** Runs steps beside a job of the Volume that runs, which they would wait for under its subject. */
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

/** The job that `status.job` names. */
export function keyOf(volume: Volume): JobKey {
  const job = parseJobName(volume.status?.job);
  if (job?.attempt === undefined) {
    throw new Error(`volume ${volume.metadata.name} has no job under way: ${volume.status?.job}`);
  }
  return jobKey(volume.metadata.uid ?? '', job.kind, job.attempt);
}

/** A node that can't be asked, or whose answer says nothing safe, leaves things unknown. */
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

import type { PersistentVolume } from '../../../api/core.ts';
import { StowageError } from '../../../api/errors.ts';
import { VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { patchWithRetry } from '../../../kube/retry.ts';
import type { Clock, KubeClient } from '../../../kube/types.ts';
import type { Executor, Step } from '../../../nodes/job.ts';
import { createJobRunner } from '../../../nodes/job-runner.ts';
import { describeFailure } from '../../../nodes/job-text.ts';
import { type Recognized, recognize } from './recognize.ts';
import { refusedVolume } from './refused.ts';

/** Timeout in ms. Records take a moment, but wait for another job of the Volume on the node. */
const DONE_WITHIN = 120_000;
const AT_ONCE = 10_000;

export interface Recordable {
  volume: Volume;
  pv: PersistentVolume;
}

export interface RecordingContext {
  client: KubeClient;
  executor: Executor;
  /** All Volumes of the cluster. */
  volumes: readonly Volume[];
  clock: Clock;
  signal: AbortSignal;
}

/**
 * Records on the node, and then in the status, that the storage is the Volume's. Verifies the
 * storage again first. Throws a StowageError if the storage is no longer recognized or the node
 * fails; NodeError, ObservationError.
 */
export async function recordVolume(
  { volume, pv }: Recordable,
  adopting: RecordingContext,
): Promise<Extract<Recognized, { steps: unknown }>> {
  const { client, executor, volumes, signal } = adopting;
  const found = await recognize(volume, pv, executor, volumes);
  if ('refusal' in found) throw refusedVolume(volume, found.refusal, found.hint);
  if (found.steps.length > 0) {
    await record(volume, found.steps, adopting);
    const again = await recognize(volume, pv, executor, volumes);
    if ('refusal' in again) throw refusedVolume(volume, again.refusal, again.hint);
    if (again.steps.length > 0) {
      throw new StowageError(
        'failed',
        `Volume ${volume.metadata.name}: still missing after the job: ${again.steps[0]?.name}`,
      );
    }
  }
  await patchWithRetry<Volume>(
    client,
    VOLUMES,
    volume.metadata.name,
    (current) => {
      if (
        current.metadata.uid !== volume.metadata.uid ||
        current.metadata.deletionTimestamp !== undefined
      ) {
        throw refusedVolume(volume, 'it was deleted meanwhile', 'Take over again.');
      }
      return current.status?.prepared === undefined ? { status: found.status } : undefined;
    },
    { subresource: 'status', signal },
  );
  return found;
}

async function record(
  { metadata, spec: { nodeName } }: Volume,
  steps: readonly Step[],
  { executor, clock }: RecordingContext,
): Promise<void> {
  const jobs = createJobRunner(executor);
  const key = { subject: metadata.uid ?? '', id: 'adopt-1' };
  // The node would take the job of an earlier attempt for this one.
  await jobs.purge(nodeName, key.subject);
  const end = clock.now() + DONE_WITHIN;
  const notWritten = (why: string) =>
    new StowageError(
      'failed',
      `Volume ${metadata.name}: its records were not written on ${nodeName}: ${why}`,
      {
        hint: 'No byte of the device was written: take over again once the cause is fixed.',
      },
    );
  const pause = async () => {
    if (clock.now() >= end) throw notWritten('the job is still running');
  };
  const state = await jobs.runToEnd(nodeName, { key, steps }, pause, AT_ONCE);
  if (state.state === 'not-found') throw notWritten('the job does not exist');
  if (state.state !== 'succeeded') throw notWritten(describeFailure(state));
  await jobs.purge(nodeName, key.subject);
}

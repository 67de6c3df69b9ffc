import type { Executor, JobKey, JobState } from './job.ts';

/**
 * Results of jobs. `lost`: the job ran, and the node does not know it any more, as after a reboot.
 */
export const JOB_RESULTS = ['succeeded', 'failed', 'raced', 'guarded', 'died', 'lost'] as const;
export type JobResult = (typeof JOB_RESULTS)[number];

export interface JobEnd {
  node: string;
  key: JobKey;
  result: JobResult;
  /**
   * Time (ms) from submission until its end was observed; undefined if an earlier process submitted
   * it.
   */
  ms: number | undefined;
}

interface Seen {
  /** Time of submission, by the clock. */
  submitted: number | undefined;
  is: 'submitted' | 'running' | 'ended';
}

/**
 * Returns an executor that reports once each job that ends while it is used. It does not report a
 * job that ended before this process knew of it, nor one whose state is polled again.
 */
export function observeJobEnds(
  executor: Executor,
  clock: { now(): number },
  onEnd: (end: JobEnd) => void,
): Executor {
  /** Jobs by node and subject, then by the job's ID, until the subject's jobs are purged. */
  const subjects = new Map<string, Map<string, Seen>>();
  const subjectOf = (node: string, subject: string) => `${node}/${subject}`;

  function jobsOf(node: string, { subject }: JobKey): Map<string, Seen> {
    const jobs = subjects.get(subjectOf(node, subject)) ?? new Map<string, Seen>();
    subjects.set(subjectOf(node, subject), jobs);
    return jobs;
  }

  function submitting(node: string, key: JobKey): void {
    const jobs = jobsOf(node, key);
    // Earlier attempts are not polled any more.
    for (const [id, { is }] of jobs) if (is !== 'running' && id !== key.id) jobs.delete(id);
    const seen = jobs.get(key.id);
    if (seen === undefined || seen.is === 'submitted') {
      jobs.set(key.id, { submitted: clock.now(), is: 'submitted' });
    }
  }

  function heard(node: string, key: JobKey, { state }: JobState): void {
    const jobs = subjects.get(subjectOf(node, key.subject));
    const seen = jobs?.get(key.id);
    if (state === 'running') {
      if (seen?.is !== 'ended')
        jobsOf(node, key).set(key.id, { submitted: seen?.submitted, is: 'running' });
      return;
    }
    // A job that was never observed as running may not have arrived, and is submitted again.
    const over =
      state === 'not-found' ? seen?.is === 'running' : seen !== undefined && seen.is !== 'ended';
    if (seen === undefined || !over) return;
    seen.is = 'ended';
    // The job is submitted again.
    if (state === 'not-found') jobs?.delete(key.id);
    const ms = seen.submitted === undefined ? undefined : clock.now() - seen.submitted;
    onEnd({ node, key, result: state === 'not-found' ? 'lost' : state, ms });
  }

  return {
    ...executor,
    async submit(node, job, waitMs) {
      submitting(node, job.key);
      const state = await executor.submit(node, job, waitMs);
      heard(node, job.key, state);
      return state;
    },
    async poll(node, keys, waitMs) {
      const states = await executor.poll(node, keys, waitMs);
      for (const [index, key] of keys.entries()) heard(node, key, states[index] as JobState);
      return states;
    },
    async purge(node, subject) {
      const purged = await executor.purge(node, subject);
      if (purged) subjects.delete(subjectOf(node, subject));
      return purged;
    },
  };
}

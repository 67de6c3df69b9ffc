import type { Executor, JobKey, JobState } from './job.ts';

/** How long a node may hold an answer back while all its jobs run, in ms. A new job is waited for after that. */
const HOLD = 2000;

export interface Follower {
  /**
   * Calls back once when the job is no longer running, or nothing is known of it any more (the node went away).
   * @param runs told of the job as it runs, some seconds apart
   */
  follow(node: string, key: JobKey, ended: () => void, runs?: (state: RunningJob) => void): void;
}

export type RunningJob = Extract<JobState, { state: 'running' }>;

interface Followed {
  key: JobKey;
  ended: () => void;
  runs: ((state: RunningJob) => void) | undefined;
}

/** Waits for the ends of running jobs: one round trip a node at a time, whatever number of jobs it has. */
export function createFollower(executor: Pick<Executor, 'poll'>): Follower {
  const nodes = new Map<string, Map<string, Followed>>();

  async function waitFor(node: string, jobs: Map<string, Followed>): Promise<void> {
    while (jobs.size > 0) {
      const asked = [...jobs];
      let states: readonly (JobState | undefined)[];
      try {
        states = await executor.poll(
          node,
          asked.map(([, { key }]) => key),
          HOLD,
        );
      } catch {
        // Whoever is called back asks again, learns why, and backs off.
        states = [];
      }
      for (const [index, [id, { ended, runs }]] of asked.entries()) {
        const state = states[index];
        if (state?.state === 'running') {
          runs?.(state);
        } else {
          jobs.delete(id);
          ended();
        }
      }
    }
    nodes.delete(node);
  }

  return {
    follow(node, key, ended, runs) {
      const id = `${key.subject}/${key.id}`;
      const jobs = nodes.get(node);
      if (jobs !== undefined) {
        jobs.set(id, { key, ended, runs });
        return;
      }
      const started = new Map([[id, { key, ended, runs }]]);
      nodes.set(node, started);
      void waitFor(node, started);
    },
  };
}

import type { Executor, JobKey, JobState } from './job.ts';

/**
 * Maximum time (ms) that a node holds an answer back while all its jobs run. A new job is polled
 * after that.
 */
const HOLD = 2000;

export interface JobWatcher {
  /**
   * Calls `ended` once, when the job no longer runs, or its state is unknown (the node is
   * unreachable).
   * @param runs called with the state of the job while it runs, some seconds apart
   */
  watch(node: string, key: JobKey, ended: () => void, runs?: (state: RunningJob) => void): void;
}

export type RunningJob = Extract<JobState, { state: 'running' }>;

interface WatchedJob {
  key: JobKey;
  ended: () => void;
  runs: ((state: RunningJob) => void) | undefined;
}

/**
 * Creates a watcher, which waits for the ends of running jobs: one round trip per node at a time,
 * for any number of jobs.
 */
export function createJobWatcher(executor: Pick<Executor, 'poll'>): JobWatcher {
  const nodes = new Map<string, Map<string, WatchedJob>>();

  async function waitFor(node: string, jobs: Map<string, WatchedJob>): Promise<void> {
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
        // The caller polls again, gets the error, and backs off.
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
    watch(node, key, ended, runs) {
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

import type { Executor, JobKey } from './job.ts';

/** How long a node may hold an answer back while all its jobs run, in ms. A new job is waited for after that. */
const HOLD = 2000;

export interface Follower {
  /** Calls back once when the job is no longer running, or nothing is known of it any more (the node went away). */
  follow(node: string, key: JobKey, ended: () => void): void;
}

/** Waits for the ends of running jobs: one round trip a node at a time, whatever number of jobs it has. */
export function createFollower(executor: Pick<Executor, 'poll'>): Follower {
  const nodes = new Map<string, Map<string, { key: JobKey; ended: () => void }>>();

  async function waitFor(node: string, jobs: Map<string, { key: JobKey; ended: () => void }>): Promise<void> {
    while (jobs.size > 0) {
      const asked = [...jobs];
      let over: boolean[];
      try {
        const states = await executor.poll(
          node,
          asked.map(([, { key }]) => key),
          HOLD,
        );
        over = states.map(({ state }) => state !== 'running');
      } catch {
        // Whoever is called back asks again, learns why, and backs off.
        over = asked.map(() => true);
      }
      for (const [index, [id, { ended }]] of asked.entries()) {
        if (over[index]) {
          jobs.delete(id);
          ended();
        }
      }
    }
    nodes.delete(node);
  }

  return {
    follow(node, key, ended) {
      const id = `${key.subject}/${key.id}`;
      const jobs = nodes.get(node);
      if (jobs !== undefined) {
        jobs.set(id, { key, ended });
        return;
      }
      const started = new Map([[id, { key, ended }]]);
      nodes.set(node, started);
      void waitFor(node, started);
    },
  };
}

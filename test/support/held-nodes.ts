import type { Executor, Job, JobState } from '../../src/nodes/job.ts';

export interface HeldNodes extends Executor {
  /** Nodes whose attach and detach jobs remain running while the node is in this set. */
  held: Set<string>;
  /** Running jobs that do not end, as `node subject id`. */
  waiting(): string[];
  /** Submitted attach and detach jobs, with their time in ms. */
  submitted: { node: string; subject: string; id: string; at: number }[];
  /** Results of the next attach and detach jobs by node, in order, instead of running the jobs. */
  failing: Map<string, JobState[]>;
}

/**
 * Returns nodes on which some jobs do not end, or fail. After the release of a node, its jobs end
 * at the next poll or purge.
 */
export function heldNodes(nodes: Executor): HeldNodes {
  const waiting = new Map<string, { node: string; job: Job }>();
  const idOf = (node: string, { key }: Pick<Job, 'key'>) => `${node} ${key.subject} ${key.id}`;

  async function letGo(node: string): Promise<void> {
    if (executor.held.has(node)) return;
    for (const [id, { job }] of [...waiting].filter(([, each]) => each.node === node)) {
      waiting.delete(id);
      await nodes.submit(node, job, 0);
    }
  }

  const executor: HeldNodes = {
    ...nodes,
    held: new Set(),
    submitted: [],
    failing: new Map(),
    waiting: () => [...waiting.keys()],
    async submit(node, job, waitMs) {
      if (!/^(attach|detach)-/.test(job.key.id)) return nodes.submit(node, job, waitMs);
      executor.submitted.push({ node, ...job.key, at: performance.now() });
      const failure = executor.failing.get(node)?.shift();
      if (failure !== undefined) return failure;
      if (!executor.held.has(node)) return nodes.submit(node, job, waitMs);
      waiting.set(idOf(node, job), { node, job });
      return { state: 'running' };
    },
    async poll(node, keys, waitMs) {
      await letGo(node);
      const states: JobState[] = keys.map((key) =>
        waiting.has(idOf(node, { key })) ? { state: 'running' } : { state: 'not-found' },
      );
      if (states.length > 0 && states.every(({ state }) => state === 'running')) {
        // A real node delays its answer, too.
        await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, 50)));
        return states;
      }
      const ended = await nodes.poll(node, keys, 0);
      return states.map((state, at) => (state.state === 'running' ? state : (ended[at] ?? state)));
    },
    async purge(node, subject) {
      await letGo(node);
      if (
        [...waiting.values()].some((each) => each.node === node && each.job.key.subject === subject)
      ) {
        return false;
      }
      return nodes.purge(node, subject);
    },
  };
  return executor;
}

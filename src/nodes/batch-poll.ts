import type { JobKey, JobState } from './job.ts';

type Poll = (node: string, keys: readonly JobKey[]) => Promise<JobState[]>;

interface Waiting {
  keys: readonly JobKey[];
  resolve(states: JobState[]): void;
  reject(error: unknown): void;
}

/**
 * Returns a poll with one round trip per node at a time: requests that arrive meanwhile share the
 * next.
 */
export function batchPolls(poll: Poll): Poll {
  const nodes = new Map<string, Waiting[]>();

  async function pollBatches(node: string, waiting: Waiting[]): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0);
      try {
        const states = await poll(
          node,
          batch.flatMap(({ keys }) => keys),
        );
        for (const { keys, resolve } of batch) resolve(states.splice(0, keys.length));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    nodes.delete(node);
  }

  return (node, keys) =>
    new Promise((resolve, reject) => {
      const waiting = nodes.get(node);
      if (waiting !== undefined) {
        waiting.push({ keys, resolve, reject });
        return;
      }
      const started = [{ keys, resolve, reject }];
      nodes.set(node, started);
      void pollBatches(node, started);
    });
}

import { expect, test } from '@jest/globals';
import { NodeError } from '../../src/nodes/errors.ts';
import type { JobKey, JobState } from '../../src/nodes/job.ts';
import { createJobWatcher } from '../../src/nodes/job-watcher.ts';

const key = (id: string): JobKey => ({ subject: 'u', id });
const running: JobState = { state: 'running' };
const succeeded: JobState = { state: 'succeeded' };

/** Creates an executor whose polls the test answers. */
function byHand() {
  const polls: {
    node: string;
    ids: string[];
    answer(states: JobState[]): Promise<void>;
    fail(error: Error): Promise<void>;
  }[] = [];
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    polls,
    poll: (node: string, keys: readonly JobKey[]) =>
      new Promise<JobState[]>((resolve, reject): void => {
        polls.push({
          node,
          ids: keys.map(({ id }) => id),
          answer(states) {
            resolve(states);
            return turn();
          },
          fail(error) {
            reject(error);
            return turn();
          },
        });
      }),
  };
}

test('polls the jobs of a node together, and reports each end once', async () => {
  const executor = byHand();
  const ended: string[] = [];
  const { watch } = createJobWatcher(executor);
  watch('n1', key('a'), () => ended.push('a'));
  watch('n1', key('b'), () => ended.push('b'));
  expect(executor.polls.map(({ ids }) => ids)).toEqual([['a']]);
  await executor.polls[0]?.answer([running]);
  expect(executor.polls[1]?.ids).toEqual(['a', 'b']);
  await executor.polls[1]?.answer([succeeded, running]);
  expect(ended).toEqual(['a']);
  expect(executor.polls[2]?.ids).toEqual(['b']);
  await executor.polls[2]?.answer([{ state: 'died' }]);
  expect(ended).toEqual(['a', 'b']);
  expect(executor.polls).toHaveLength(3);
});

test('polls a job that is added while the last other job ends', async () => {
  const executor = byHand();
  const ended: string[] = [];
  const { watch } = createJobWatcher(executor);
  watch('n1', key('a'), () => {
    ended.push('a');
    watch('n1', key('b'), () => ended.push('b'));
  });
  await executor.polls[0]?.answer([succeeded]);
  expect(executor.polls[1]?.ids).toEqual(['b']);
  await executor.polls[1]?.answer([succeeded]);
  expect(ended).toEqual(['a', 'b']);
  watch('n1', key('c'), () => ended.push('c'));
  expect(executor.polls[2]?.ids).toEqual(['c']);
});

test('calls back for an unreachable node, and polls it no more', async () => {
  const executor = byHand();
  const ended: string[] = [];
  const { watch } = createJobWatcher(executor);
  watch('n1', key('a'), () => ended.push('a'));
  watch('n2', key('b'), () => ended.push('b'));
  await executor.polls[0]?.fail(new NodeError('unreachable', 'n1', 'away'));
  expect(ended).toEqual(['a']);
  expect(executor.polls.map(({ node }) => node)).toEqual(['n1', 'n2']);
});

test('reports the step of a running job', async () => {
  const executor = byHand();
  const told: unknown[] = [];
  const { watch } = createJobWatcher(executor);
  watch(
    'n1',
    key('a'),
    () => told.push('ended'),
    ({ step }) => told.push(step?.name),
  );
  await executor.polls[0]?.answer([{ state: 'running', step: { name: 'sync', command: 'sync' } }]);
  await executor.polls[1]?.answer([running]);
  await executor.polls[2]?.answer([succeeded]);
  expect(told).toEqual(['sync', undefined, 'ended']);
});

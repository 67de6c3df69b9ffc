import { beforeEach, expect, test } from '@jest/globals';
import { NodeError } from '../../src/nodes/errors.ts';
import type { Executor, JobKey, JobState } from '../../src/nodes/job.ts';
import { observeJobEnds } from '../../src/nodes/job-observer.ts';
import { FakeClock } from '../support/fake-clock.ts';

const KEY: JobKey = { subject: 'u', id: 'prepare-1' };
const AGAIN: JobKey = { subject: 'u', id: 'prepare-2' };
const step = { name: 'make it', command: 'mk' };
const ended = (state: 'succeeded' | 'not-found' | 'running'): JobState => ({ state });

let clock: FakeClock;
let told: string[];
let answer: JobState | NodeError;
let executor: Executor;

beforeEach(() => {
  clock = new FakeClock();
  told = [];
  const say = async () => {
    if (answer instanceof NodeError) throw answer;
    return answer;
  };
  const node: Partial<Executor> = {
    submit: say,
    poll: async (_, keys) => Promise.all(keys.map(say)),
    purge: async () => true,
  };
  executor = observeJobEnds(node as Executor, clock, ({ node, key, result, ms }) => {
    told.push(`${node} ${key.subject} ${key.id} ${result} ${ms}`);
  });
});

const submit = async (key: JobKey, state: JobState | NodeError) => {
  answer = state;
  return executor.submit('n1', { key, steps: [] }, 0);
};
const poll = async (key: JobKey, state: JobState) => {
  answer = state;
  return executor.poll('n1', [key], 0);
};

test.each<[JobState, string]>([
  [{ state: 'succeeded' }, 'succeeded'],
  [{ state: 'failed', step, exit: 1, output: '' }, 'failed'],
  [{ state: 'raced', step, exit: 1, output: '' }, 'raced'],
  [{ state: 'guarded', step, refusal: '', output: '' }, 'guarded'],
  [{ state: 'died' }, 'died'],
])('reports the end %j once, with the duration of the job', async (end, result) => {
  await submit(KEY, ended('running'));
  await clock.advance(3000);
  await poll(KEY, ended('running'));
  await clock.advance(2000);
  expect(await poll(KEY, end)).toEqual([end]);
  await poll(KEY, end);
  await submit(KEY, end);
  // A response that was pending when the end was reported.
  await poll(KEY, ended('running'));
  await poll(KEY, end);
  expect(told).toEqual([`n1 u prepare-1 ${result} 5000`]);
});

test('reports a job that ends while it is submitted, and each attempt', async () => {
  await submit(KEY, ended('succeeded'));
  await submit(AGAIN, ended('succeeded'));
  expect(told).toEqual(['n1 u prepare-1 succeeded 0', 'n1 u prepare-2 succeeded 0']);
});

test('reports a job whose submission got no answer once it has ended or is submitted again', async () => {
  const gone = new NodeError('unreachable', 'n1', 'node n1 is away');
  await expect(submit(KEY, gone)).rejects.toBe(gone);
  await clock.advance(1000);
  await poll(KEY, ended('not-found'));
  await submit(KEY, ended('running'));
  await clock.advance(500);
  await poll(KEY, ended('succeeded'));
  expect(told).toEqual(['n1 u prepare-1 succeeded 500']);
});

test('reports a job that is missing on its node as lost, and again if resubmitted', async () => {
  await submit(KEY, ended('running'));
  await poll(KEY, ended('not-found'));
  await poll(KEY, ended('not-found'));
  await submit(KEY, ended('succeeded'));
  expect(told).toEqual(['n1 u prepare-1 lost 0', 'n1 u prepare-1 succeeded 0']);
});

test('reports the end of a running job of an earlier process, and nothing of one that had ended', async () => {
  await poll(KEY, ended('running'));
  await poll(KEY, ended('succeeded'));
  await poll(AGAIN, ended('succeeded'));
  expect(told).toEqual(['n1 u prepare-1 succeeded undefined']);
});

test('reports jobs of a subject again after a purge', async () => {
  await submit(KEY, ended('succeeded'));
  await executor.purge('n1', 'u');
  await submit(KEY, ended('succeeded'));
  expect(told).toHaveLength(2);
});

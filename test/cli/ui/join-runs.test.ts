import { expect, test } from '@jest/globals';
import { joinRuns } from '../../../src/cli/ui/join-runs.ts';

/** Runs that the test ends. */
function scene() {
  const runs: { name: string; end: PromiseWithResolvers<string> }[] = [];
  const read = joinRuns(
    2,
    (name: string) => name,
    (name) => {
      const end = Promise.withResolvers<string>();
      runs.push({ name, end });
      return end.promise;
    },
  );
  return { runs, read };
}

test('callers share the run of their key, and the next one starts another', async () => {
  const { runs, read } = scene();
  const [first, second, other] = [read('a'), read('a'), read('b')];
  expect(runs.map(({ name }) => name)).toEqual(['a', 'b']);
  runs[0]?.end.resolve('1');
  runs[1]?.end.resolve('2');
  expect(await Promise.all([first, second, other])).toEqual(['1', '1', '2']);
  const again = read('a');
  runs[2]?.end.resolve('3');
  expect(await again).toBe('3');
});

test('a failed run fails for all its callers, and is not kept', async () => {
  const { runs, read } = scene();
  const both = [read('a'), read('a')];
  runs[0]?.end.reject(new Error('no'));
  for (const each of both) await expect(each).rejects.toThrow('no');
  void read('a');
  expect(runs).toHaveLength(2);
});

test('too many runs are refused, but not callers who share one', async () => {
  const { runs, read } = scene();
  const [a] = [read('a'), read('b')];
  await expect(read('c')).rejects.toMatchObject({
    code: 'failed',
    message: '2 objects are being read already: retry',
  });
  const shared = read('a');
  runs[0]?.end.resolve('1');
  expect(await Promise.all([a, shared])).toEqual(['1', '1']);
  void read('c');
  expect(runs.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
});

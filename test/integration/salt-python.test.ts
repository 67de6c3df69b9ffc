import { expect, test } from '@jest/globals';
import { execa } from 'execa';

test('the Salt modules pass their Python tests', async () => {
  const { all, exitCode } = await execa(
    'python3',
    ['-B', '-m', 'unittest', 'discover', '-s', 'test/salt'],
    {
      env: { PYTHONPATH: 'salt/_modules' },
      all: true,
      reject: false,
    },
  );
  if (exitCode !== 0) throw new Error(all);
  expect(all).toMatch(/Ran [1-9]\d* tests/);
});

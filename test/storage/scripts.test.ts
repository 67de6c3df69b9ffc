import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { otherScript } from '../support/other-script.ts';

test('a running script shows its name and arguments in ps, not its text', async () => {
  const printed = 'run() {\ntr "\\0" "\\n" </proc/$$/cmdline\n}\nrun "$@"';
  const [program = '', ...words] = otherScript('stowage-test', printed, 'a b', '');
  const { stdout } = await execa(program, words);
  expect(stdout.split('\n')).toEqual(['sh', '-c', 'eval "$text"', 'stowage-test', 'a b', '']);
});

test('the launcher does not run a changed script', async () => {
  const [program = '', ...words] = otherScript('stowage-test', 'echo ran');
  const changed = words.map((word) => (word === 'echo ran' ? 'echo run' : word));
  const { exitCode, stdout } = await execa(program, changed, { reject: false });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
});

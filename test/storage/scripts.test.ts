import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { FS_TYPES } from '../../src/api/file-systems.ts';
import { SCRIPTS } from '../../src/storage/scripts/scripts.ts';
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

test('scripts probe for all types of file systems', () => {
  const types = Object.values(SCRIPTS).flatMap((script) =>
    [...script.matchAll(/blkid -p -n (\S+)/g)].map(([, found]) => found),
  );
  expect(new Set(types)).toEqual(new Set([FS_TYPES.join(',')]));
});

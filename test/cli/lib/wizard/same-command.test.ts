import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { sameCommand } from '../../../../src/cli/lib/wizard/same-command.ts';
import { showSummary } from '../../../../src/cli/lib/wizard/summary.ts';
import { fakeIo } from '../../../support/fake-io.ts';

/** Returns the words that a real sh parses from a command of `stowage`. */
function wordsOf(command: string): string[] {
  const input = `stowage() { printf '%s\\0' "$@"; }\n${command}\n`;
  return execFileSync('sh', [], { input, encoding: 'utf8' }).split('\0').slice(0, -1);
}

const HOSTILE = ['$(id)', '`id`', "a'b", 'a b', '; id', 'a\nb', '*', '~', 'é'];

test('quotes each answer as one word', () => {
  const given = { '--arg': HOSTILE, '--kind': '"$HOME"' };
  expect(wordsOf(sameCommand(['register', 'populator', '$(id)'], given, { color: true }))).toEqual([
    'register',
    'populator',
    '$(id)',
    ...HOSTILE.flatMap((each) => ['--arg', each]),
    '--kind',
    '"$HOME"',
  ]);
});

test('what begins with a hyphen is no option of its own', () => {
  const command = sameCommand([], { '--arg': ['--file', 'a'] }, { color: true });
  expect(wordsOf(command)).toEqual(['--arg=--file', '--arg', 'a']);
});

test('leaves out what was not given, and keeps the flags of the cluster', () => {
  const given = { '--a': undefined, '--b': false, '--c': true, '--d': [] };
  const globals = {
    kubeconfig: 'f',
    context: 'c',
    namespace: 'n',
    as: 'u',
    color: false,
    verbose: true,
  };
  expect(sameCommand(['x'], given, globals)).toBe(
    'stowage x --c --kubeconfig f --context c --namespace n --as u',
  );
});

test('it stays what it is where it is shown', () => {
  const { io, outcome } = fakeIo();
  const command = sameCommand(['x'], { '--arg': 'a\n  b\nc' }, { color: true });
  showSummary({ sections: [['What', 'one\ntwo\u001b[2J']], command }, io);
  const [, shown = ''] = /Equivalent command:\n(.*)$/s.exec(outcome.err) ?? [];
  expect(wordsOf(shown)).toEqual(['x', '--arg', 'a\n  b\nc']);
  expect(outcome.err).toContain('\nWhat:\n  one\n  two\ufffd[2J\n');
});

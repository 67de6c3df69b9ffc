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

test('writes a value that begins with a hyphen as --flag=value', () => {
  const command = sameCommand([], { '--arg': ['--file', 'a'] }, { color: true });
  expect(wordsOf(command)).toEqual(['--arg=--file', '--arg', 'a']);
});

test('omits unset options, and keeps the connection flags', () => {
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

test('showSummary prints a command that a shell parses to the same words', () => {
  const { io, outcome } = fakeIo();
  const command = sameCommand(['x'], { '--arg': 'a\n  b\nc' }, { color: true });
  showSummary({ sections: [['What', 'one\ntwo\u001b[2J']], command }, io);
  const [, shown = ''] = /Equivalent command:\n(.*)$/s.exec(outcome.err) ?? [];
  expect(wordsOf(shown)).toEqual(['x', '--arg', 'a\n  b\nc']);
  expect(outcome.err).toContain('\nWhat:\n  one\n  two\ufffd[2J\n');
});

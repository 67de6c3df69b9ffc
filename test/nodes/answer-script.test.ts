import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { observeScript, readObservation } from '../../src/nodes/protocol.ts';
import answerFunctions from '../../src/nodes/scripts/answer.sh';

const run = (shell: string, script: string, locale: string) =>
  spawnSync(shell, {
    input: script,
    env: { ...process.env, LANG: locale, LC_ALL: locale },
  }).stdout.toString('latin1');

test.each(['C', 'C.UTF-8'])('a shell with the locale %s returns output unchanged', (locale) => {
  const probes = [
    { name: 'newlines', argv: ['printf', '%s', '\n\nfür\n\n'] },
    { name: 'errors', argv: ['sh', '-c', 'echo läuft; echo fehlt >&2; exit 3'] },
    { name: 'an end', argv: ['printf', '%s', '0\n\nprobe 3 0\n0\n\nstowage-end\n'] },
    { name: 'nothing', argv: ['true'] },
  ];
  const answer = run('sh', observeScript(probes), locale);
  expect([...readObservation(answer, probes).values()]).toEqual([
    { exit: 0, stdout: '\n\nfür', stderr: '' },
    { exit: 3, stdout: 'läuft', stderr: 'fehlt' },
    { exit: 0, stdout: '0\n\nprobe 3 0\n0\n\nstowage-end', stderr: '' },
    { exit: 0, stdout: '', stderr: '' },
  ]);
});

test('the length of a text is in bytes, even in a shell that counts characters', () => {
  const script = `${answerFunctions}\ntext für\n`;
  expect(run('bash', script, 'C.UTF-8')).toBe(Buffer.from('4\nfür\n').toString('latin1'));
});

import { execa } from 'execa';
import { workingDirectory } from '../../../../nodes/working-directory.ts';
import type { RunProgram } from './trust.ts';

/** Timeout in ms, longer than that of ssh-keyscan for a host that does not answer. */
const TIMEOUT = 60_000;

export const runProgram: RunProgram = async (program, args) => {
  const { exitCode, stdout, stderr, shortMessage } = await execa(program, [...args], {
    cwd: workingDirectory(),
    reject: false,
    stdin: 'ignore',
    timeout: TIMEOUT,
  });
  // A program that could not be started printed nothing.
  return {
    exitCode,
    stdout: stdout ?? '',
    stderr: stderr || (exitCode === undefined ? (shortMessage ?? '') : ''),
  };
};

import { execa } from 'execa';
import { workingFolder } from '../../../../nodes/working-folder.ts';
import type { RunProgram } from './trust.ts';

/** Longer than ssh-keyscan takes for a host that does not answer. ms */
const TIMEOUT = 60_000;

export const runProgram: RunProgram = async (program, args) => {
  const { exitCode, stdout, stderr, shortMessage } = await execa(program, [...args], {
    cwd: workingFolder(),
    reject: false,
    stdin: 'ignore',
    timeout: TIMEOUT,
  });
  // One that could not be started printed nothing.
  return {
    exitCode,
    stdout: stdout ?? '',
    stderr: stderr || (exitCode === undefined ? (shortMessage ?? '') : ''),
  };
};

import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { JOBS_DIRECTORY } from '../../src/nodes/jobs-directory.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/**
 * Runs jobs with a shell of this machine, in their own directory.
 * @param programs names and texts of shell scripts that take precedence over installed programs
 * @param uid user ID that scripts see as their own
 */
export async function localJobs(programs: Readonly<Record<string, string>>, uid = 0) {
  const { path, remove } = await temporaryDirectory('local-jobs');
  const bin = join(path, 'bin');
  const jobs = join(path, 'jobs');
  await mkdir(bin);
  await mkdir(jobs, { mode: 0o700 });
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`);
    await chmod(join(bin, name), 0o755);
  }
  const status = join(path, 'status');
  await writeFile(status, `Uid:\t${`${uid}\t`.repeat(4)}\n`);
  const executor = createShellExecutor({
    async run(_node, script) {
      const input = script.replaceAll(JOBS_DIRECTORY, jobs).replaceAll('/proc/self/status', status);
      const env = { PATH: `${bin}:${process.env.PATH}` };
      const { stdout } = await execa('sh', {
        ...{ input, env, encoding: 'latin1', stripFinalNewline: false },
      });
      return stdout;
    },
    close: async () => {},
  });
  return { path, jobs, executor, remove };
}

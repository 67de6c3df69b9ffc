import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { JOBS_FOLDER } from '../../src/nodes/jobs-folder.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { temporaryFolder } from './temporary-folder.ts';

/**
 * Runs jobs by a shell of this machine, in a directory of their own.
 * @param programs names and texts of shell scripts that go before the programs of the machine
 */
export async function localJobs(programs: Readonly<Record<string, string>>) {
  const { path, remove } = await temporaryFolder('local-jobs');
  const bin = join(path, 'bin');
  const jobs = join(path, 'jobs');
  await mkdir(bin);
  await mkdir(jobs, { mode: 0o700 });
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`);
    await chmod(join(bin, name), 0o755);
  }
  const executor = createShellExecutor({
    async run(_node, script) {
      const input = script.replaceAll(JOBS_FOLDER, jobs);
      return `${(await execa('sh', { input, env: { PATH: `${bin}:${process.env.PATH}` } })).stdout}\n`;
    },
    close: async () => {},
  });
  return { path, jobs, executor, remove };
}

import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { createNodeExecutor } from '../../src/model/node-executor.ts';
import type { Executor } from '../../src/nodes/job.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { type Sshd, startSshd } from './sshd.ts';

/** Starts an sshd whose key runs only the forced command, with this list. */
export async function startGuarded(
  folder: string,
  list: string,
): Promise<{ sshd: Sshd; executor: Executor }> {
  const sshd = await startSshd({ nodes: ['n1'] });
  const file = join(folder, 'allowed');
  await writeFile(file, list);
  const { stdout: python } = await execa('python3', ['-c', 'import sys; print(sys.executable)']);
  const keys = join(sshd.folder, 'authorized_keys');
  const command = `${python} -I ${resolve('salt/ssh_guard.py')} ${file}`;
  await writeFile(keys, `restrict,command="${command}" ${await readFile(keys, 'utf8')}`);
  return { sshd, executor: reach(sshd.configFile) };
}

/** Returns nodes behind such an sshd. */
export const reach = (sshConfig: string): Executor =>
  createNodeExecutor({
    transport: 'ssh',
    localNodes: [],
    sshConfig,
    sshGuard: true,
    nodeNamed: () => undefined,
    clock: systemClock,
  });

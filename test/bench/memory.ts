/**
 * `npm run bench -- memory [VOLUMES]`: the memory and CPU of the daemon with so many Volumes (default: 10,000) on 100
 * nodes, all of them made and looked at every 30 s. The daemon is a process of its own, with the flags that `stowage watch`
 * has; its nodes answer at once and from memory. The API server is a sandbox in another process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '../../src/kube/connect.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { fillCluster } from './fill-cluster.ts';
import { bundle, startSandbox, WATCH_FLAGS } from './processes.ts';

const count = Number(process.argv[2] ?? 10_000);
const folder = await temporaryFolder('bench');
const kubeconfig = join(folder.path, 'kubeconfig');
const sandbox = await startSandbox(kubeconfig);
try {
  const { client } = await connect({ kubeconfig });
  const placed = join(folder.path, 'placed.json');
  await writeFile(placed, JSON.stringify(await fillCluster(client, count)));
  const program = await bundle('idle-daemon.ts', folder.path);
  const daemon = spawn(process.execPath, [...WATCH_FLAGS, '--expose-gc', program, kubeconfig, placed], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [status] = await once(daemon, 'exit');
  process.exitCode = status ?? 1;
} finally {
  await sandbox.stop();
  await folder.remove();
}

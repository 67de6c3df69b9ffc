/**
 * `npm run bench -- memory [VOLUMES]`: memory and CPU of the daemon with provisioned Volumes
 * (default: 10,000) on 100 nodes, each Volume observed every 30 s. The daemon is `stowage watch`
 * with Lease, log and HTTP endpoint, in its own process and with the flags of `bin/stowage`. Its
 * nodes answer at once, from memory. The API server is a sandbox in another process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect } from '../../src/kube/connect.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { fillCluster } from './fill-cluster.ts';
import { bundle, startSandbox, WATCH_ENV, WATCH_FLAGS } from './processes.ts';

const count = Number(process.argv[2] ?? 10_000);
const folder = await temporaryDirectory('bench');
const kubeconfig = join(folder.path, 'kubeconfig');
const sandbox = await startSandbox(kubeconfig);
try {
  const { client } = await connect({ kubeconfig });
  const placed = join(folder.path, 'placed.json');
  await writeFile(placed, JSON.stringify(await fillCluster(client, count)));
  const program = await bundle('idle-daemon.ts', folder.path);
  const daemon = spawn(process.execPath, [...WATCH_FLAGS, program, kubeconfig, placed], {
    stdio: ['ignore', 'inherit', 'pipe'],
    env: WATCH_ENV,
  });
  // The log of the daemon, to print after a failure.
  const logged = text(daemon.stderr);
  const [status] = await once(daemon, 'exit');
  if (status !== 0) console.error(await logged);
  process.exitCode = status ?? 1;
} finally {
  await sandbox.stop();
  await folder.remove();
}

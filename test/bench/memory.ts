/**
 * `node test/bench/memory.ts [VOLUMES]`: the memory and CPU of the daemon with so many Volumes (default: 10,000) on 100
 * nodes, all of them made and looked at every 30 s. The daemon is a process of its own; its nodes answer at once and from
 * memory. The API server is a sandbox in this process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { LEFTOVER_CRD } from '../../src/api/leftover-crd.ts';
import { VOLUME_CRD } from '../../src/api/volume-crd.ts';
import { connect } from '../../src/kube/connect.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { fillCluster } from './fill-cluster.ts';

const count = Number(process.argv[2] ?? 10_000);
const sandbox = await startSandbox({ crds: [VOLUME_CRD, LEFTOVER_CRD] });
const folder = await temporaryFolder('bench');
const kubeconfig = join(folder.path, 'kubeconfig');
await writeFile(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
const { client } = await connect({ kubeconfig });
const placed = join(folder.path, 'placed.json');
await writeFile(placed, JSON.stringify(await fillCluster(client, count)));
// As it is shipped: a bundle, where no types are stripped.
const bundle = join(folder.path, 'daemon.mjs');
await build({
  entryPoints: [join(import.meta.dirname, 'idle-daemon.ts')],
  outfile: bundle,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  minify: true,
  keepNames: true,
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
});
const daemon = spawn(process.execPath, ['--expose-gc', bundle, kubeconfig, placed], {
  stdio: ['ignore', 'inherit', 'inherit'],
});
const [status] = await once(daemon, 'exit');
await sandbox.stop();
await folder.remove();
process.exitCode = status ?? 1;

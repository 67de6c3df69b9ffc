/**
 * `npm run bench -- get-volumes`: compares `stowage get volumes` with `kubectl get volumes`, for 10
 * and for 10,000 Volumes. Both use the same API server, a sandbox in its own process. kubectl
 * requests a table from the server; both request pages of 500. The commands take turns; figures are
 * medians of whole processes.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { connect } from '../../src/kube/connect.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { median, ms, printFigures, times } from './figures.ts';
import { fillCluster } from './fill-cluster.ts';
import { startSandbox, usageOf } from './processes.ts';

const SIZES = [
  { count: 10, rounds: 15 },
  { count: 10_000, rounds: 7 },
];
const COMMANDS = ['kubectl', 'bin/stowage'] as const;

for (const { count, rounds } of SIZES) await compare(count, rounds);

async function compare(count: number, rounds: number): Promise<void> {
  const folder = await temporaryDirectory('bench');
  const kubeconfig = join(folder.path, 'kubeconfig');
  const sandbox = await startSandbox(kubeconfig);
  try {
    const { client } = await connect({ kubeconfig });
    await fillCluster(client, count);
    // Both cache in the directory of this benchmark.
    const env = { ...process.env, HOME: folder.path, XDG_CACHE_HOME: '', KUBECONFIG: kubeconfig };
    const taken = COMMANDS.map((): number[] => []);
    const ofServer = COMMANDS.map((): number[] => []);
    // The first round fills caches, and does not count.
    for (let round = 0; round <= rounds; round++) {
      for (const [index, command] of COMMANDS.entries()) {
        const before = await usageOf(sandbox.pid);
        const began = performance.now();
        const { status, stdout } = spawnSync(command, ['get', 'volumes'], {
          env,
          encoding: 'utf8',
          maxBuffer: 2 ** 28,
        });
        const took = performance.now() - began;
        const rows = stdout.split('\n').length - 2;
        if (status !== 0 || rows !== count)
          throw new Error(`${command}: status ${status}, ${rows} rows`);
        if (round === 0) continue;
        taken[index]?.push(took);
        ofServer[index]?.push(((await usageOf(sandbox.pid)).cpu - before.cpu) * 1000);
      }
    }
    console.log(`get volumes of ${count}; medians of ${rounds} rounds`);
    const kubectl = median(taken[0] ?? []);
    for (const [index, command] of COMMANDS.entries()) {
      const took = median(taken[index] ?? []);
      const name = command.replace('bin/', '');
      const served = `sandbox's CPU ${ms(median(ofServer[index] ?? []))}`;
      printFigures(name, ms(took), `${times(took / kubectl)} kubectl`, served);
    }
  } finally {
    await sandbox.stop();
    await folder.remove();
  }
}

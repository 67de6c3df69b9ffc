/**
 * `npm run bench -- completion`: time of a Tab with 10 and with 10,000 Volumes. `stowage
 * __complete`, which the shell completions run, and `kubectl __complete` take turns. The API server
 * is a sandbox in its own process. Figures are medians of whole processes.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { connect } from '../../src/kube/connect.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { median, ms, printFigures, quantile } from './figures.ts';
import { fillCluster } from './fill-cluster.ts';
import { startSandbox } from './processes.ts';

const ROUNDS = 15;
/** Includes completions of Volumes with an empty prefix, and with a prefix of none. */
const COMMANDS: [string, string[]][] = [
  ['kubectl', ['__complete', 'get', 'volumes', '']],
  ['bin/stowage', ['__complete', 'get', 'vol']],
  ['bin/stowage', ['__complete', 'get', 'volumes', '']],
  ['bin/stowage', ['__complete', 'get', 'volumes', 'v00']],
  ['bin/stowage', ['__complete', 'create', 'volume', '--node', '']],
];

for (const count of [10, 10_000]) {
  const folder = await temporaryDirectory('bench');
  const kubeconfig = join(folder.path, 'kubeconfig');
  const sandbox = await startSandbox(kubeconfig);
  try {
    const { client } = await connect({ kubeconfig });
    await fillCluster(client, count);
    const env = { ...process.env, HOME: folder.path, XDG_CACHE_HOME: '', KUBECONFIG: kubeconfig };
    const taken = COMMANDS.map((): number[] => []);
    // The first round fills caches, and does not count.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [index, [command, args]] of COMMANDS.entries()) {
        const began = performance.now();
        const { status, stdout } = spawnSync(command, args, {
          env,
          encoding: 'utf8',
          maxBuffer: 2 ** 28,
        });
        const took = performance.now() - began;
        if (status !== 0 || !/^:\d+$/m.test(stdout))
          throw new Error(`${command} ${args.join(' ')}: status ${status}`);
        if (round > 0) taken[index]?.push(took);
      }
    }
    console.log(
      `Tab with ${count} Volumes; medians of ${ROUNDS} rounds, and the slowest but one in ten`,
    );
    for (const [index, [command, args]] of COMMANDS.entries()) {
      const all = taken[index] ?? [];
      printFigures(
        `${command.replace('bin/', '')} ${args.join(' ')}|`,
        ms(median(all)),
        ms(quantile(all, 0.9)),
      );
    }
  } finally {
    await sandbox.stop();
    await folder.remove();
  }
}

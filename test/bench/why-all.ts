/**
 * `npm run bench -- why-all`: compares `stowage why --all` with `stowage get volumes`, for 10,000
 * Volumes of which every tenth is blocked. Both use the same API server, a sandbox in its own
 * process. The commands take turns; figures are medians of whole processes.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { VOLUMES } from '../../src/api/resources.ts';
import { connect } from '../../src/kube/connect.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { median, ms, printFigures, times } from './figures.ts';
import { fillCluster } from './fill-cluster.ts';
import { startSandbox } from './processes.ts';

const COUNT = 10_000;
const HELD_UP = 1000;
const ROUNDS = 5;
const COMMANDS: readonly (readonly [args: string[], status: number])[] = [
  [['get', 'volumes'], 0],
  [['why', '--all', '-o', 'json'], 5],
];

const folder = await temporaryDirectory('bench');
const kubeconfig = join(folder.path, 'kubeconfig');
const sandbox = await startSandbox(kubeconfig);
try {
  const { client } = await connect({ kubeconfig });
  await fillCluster(client, COUNT);
  const condition = {
    ...{ type: 'Ready', status: 'Unknown', reason: 'NodeUnreachable', message: 'no answer' },
    lastUpdateTime: new Date().toISOString(),
  };
  for (let index = 0; index < HELD_UP; index++) {
    const status = { conditions: [condition] };
    await client.patch(VOLUMES, `volume-${index * 10}`, { status }, { subresource: 'status' });
  }
  const env = { ...process.env, HOME: folder.path, XDG_CACHE_HOME: '', KUBECONFIG: kubeconfig };
  const taken = COMMANDS.map((): number[] => []);
  // The first round fills caches, and does not count.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, [args, wanted]] of COMMANDS.entries()) {
      const began = performance.now();
      const { status, stderr } = spawnSync('bin/stowage', args, {
        env,
        encoding: 'utf8',
        maxBuffer: 2 ** 28,
      });
      if (status !== wanted) throw new Error(`stowage ${args.join(' ')}: ${status}, ${stderr}`);
      if (round > 0) taken[index]?.push(performance.now() - began);
    }
  }
  console.log(
    `${COUNT} Volumes, ${HELD_UP} of them held up on 10 nodes; medians of ${ROUNDS} rounds`,
  );
  const listing = median(taken[0] ?? []);
  for (const [index, [args]] of COMMANDS.entries()) {
    const took = median(taken[index] ?? []);
    printFigures(args.join(' '), ms(took), `${times(took / listing)} get volumes`);
  }
} finally {
  await sandbox.stop();
  await folder.remove();
}

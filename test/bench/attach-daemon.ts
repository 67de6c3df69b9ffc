/**
 * Daemon of test/bench/attach.ts: `stowage watch` over nodes in memory that have the files of the
 * Volumes. At each SIGUSR2 and at its end, the daemon prints its API requests since the last
 * SIGUSR2, as a line of JSON.
 */
import { readFile } from 'node:fs/promises';
import { selectControllers } from '../../src/api/controllers.ts';
import { workingNodes } from '../support/working-nodes.ts';
import { startAsWatch } from './as-watch.ts';
import type { DaemonInput } from './attach-programs.ts';
import { stepsThatMake } from './typed-volume.ts';

const { kubeconfig, placed, attached, controllers, qps, burst }: DaemonInput = JSON.parse(
  await readFile(process.argv[2] ?? '', 'utf8'),
);

let calls: Record<string, number> = {};
const told = () => {
  console.log(JSON.stringify(calls));
  calls = {};
};
process.on('SIGUSR2', told);

const nodes = workingNodes();
// Leave the nodes as an earlier daemon leaves them.
for (const [node, uids] of Object.entries(placed)) {
  for (const [number, subject] of uids.entries()) {
    const steps = stepsThatMake(subject, attached ? number : undefined);
    await nodes.submit(node, { key: { subject, id: 'made' }, steps }, 0);
    await nodes.purge(node, subject);
  }
}

const { ended } = await startAsWatch(
  kubeconfig,
  nodes,
  ({ verb, resource }) => {
    const name = `${verb} ${resource}`;
    calls[name] = (calls[name] ?? 0) + 1;
  },
  { controllers: selectControllers(controllers), rate: { qps, burst } },
);
await ended;
told();

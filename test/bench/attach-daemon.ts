/**
 * The daemon of test/bench/attach.ts: `stowage watch` over nodes in memory on which the files of the Volumes are. It prints
 * what it asked of the API server as a line of JSON: since the last SIGUSR2 at each one, and in the end.
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
// As an earlier daemon left them.
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

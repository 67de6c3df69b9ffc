/**
 * Daemon of test/bench/volumes.ts: `stowage watch` over nodes in memory that run jobs at once. Its
 * argument is the path of a kubeconfig. At its end, the daemon prints the number of API requests by
 * verb and resource, as JSON.
 */
import { workingNodes } from '../support/working-nodes.ts';
import { startAsWatch } from './as-watch.ts';

const calls: Record<string, number> = {};
const { ended } = await startAsWatch(process.argv[2], workingNodes(), ({ verb, resource }) => {
  const name = `${verb} ${resource}`;
  calls[name] = (calls[name] ?? 0) + 1;
});
await ended;
console.log(JSON.stringify(calls));

/**
 * The daemon of test/bench/volumes.ts: `stowage watch` over nodes that do at once, in memory, what they are told. Its
 * argument is the file of a kubeconfig. In the end it prints how often it asked the API server for what, as JSON.
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

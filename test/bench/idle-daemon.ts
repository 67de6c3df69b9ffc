/**
 * Daemon of test/bench/memory.ts: `stowage watch` that measures itself while its Volumes need
 * nothing, then ends. No garbage collection is forced. Arguments: the paths of a kubeconfig and of
 * the result of `fillCluster`.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAsWatch } from './as-watch.ts';
import { readyNodes } from './ready-nodes.ts';

/** Duration (ms) of the idle measurement: two observations of each Volume. */
const AT_REST = 60_000;

const writes: string[] = [];
const nodes = readyNodes(JSON.parse(await readFile(process.argv[3] ?? '', 'utf8')));
const started = measure('before');
const { metrics, ended, stop } = await startAsWatch(
  process.argv[2],
  nodes,
  ({ verb, resource }) => {
    // Renewals of the Lease are no sign of work.
    if (!['get', 'list', 'watch'].includes(verb) && resource !== 'leases')
      writes.push(`${verb} ${resource}`);
  },
);
const early = ended.then(() => Promise.reject(new Error('it ended by itself')));
early.catch(() => {});
const eachLookedAt = async () => {
  while (nodes.looks < nodes.volumes) await sleep(50);
};
await Promise.race([eachLookedAt(), early]);
const looked = measure('each looked at', started);
await Promise.race([sleep(AT_REST), early]);
measure('at rest', looked);
const before = process.cpuUsage();
const { body } = await metrics.read();
const { user, system } = process.cpuUsage(before);
console.log(`a scrape: ${body.length} bytes, ${((user + system) / 1000).toFixed(0)} ms of CPU`);
if (writes.length > 0) throw new Error(`it was not at rest: ${[...new Set(writes)].join()}`);
stop();
await ended;

/** Prints the current memory use, the peak RSS, and the CPU time since an earlier measurement. */
function measure(what: string, since?: { at: number; cpu: number }) {
  const { rss, heapUsed } = process.memoryUsage();
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const cpu = (userCPUTime + systemCPUTime) / 1e6;
  const at = performance.now() / 1000;
  const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0).padStart(4)} MiB`;
  console.log(
    `${what.padEnd(16)} RSS ${mebibytes(rss)}   peak ${mebibytes(maxRSS * 1024)}   heap ${mebibytes(heapUsed)}   ` +
      `${(at - (since?.at ?? at)).toFixed(1).padStart(5)} s, ${(cpu - (since?.cpu ?? cpu)).toFixed(1)} s of CPU`,
  );
  return { at, cpu };
}

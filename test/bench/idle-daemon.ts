/**
 * The daemon of test/bench/memory.ts: measures itself while its Volumes need nothing, then ends. Arguments: the files of
 * a kubeconfig, and of what `fillCluster` returned.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeNode } from '../../src/api/core.ts';
import { NODES } from '../../src/api/resources.ts';
import { systemClock } from '../../src/control/clock.ts';
import { keepNode } from '../../src/daemon/kept-fields.ts';
import { createMetrics } from '../../src/daemon/metrics/metrics.ts';
import { startVolumeController } from '../../src/daemon/volume-controller.ts';
import { connect } from '../../src/kube/connect.ts';
import { createInformer } from '../../src/kube/informer.ts';
import { tellJobEnds } from '../../src/nodes/job-ends.ts';
import { readyNodes } from './ready-nodes.ts';

/** For how long it is watched at rest, in ms: two looks at each Volume. */
const AT_REST = 60_000;

const writes: string[] = [];
const metrics = createMetrics({ clock: systemClock, transportOf: () => 'bench' });
const { client } = await connect({
  kubeconfig: process.argv[2],
  onCall(call) {
    metrics.onCall(call);
    if (!['get', 'list', 'watch'].includes(call.verb)) writes.push(`${call.verb} ${call.resource}`);
  },
});
const nodesAnswer = readyNodes(JSON.parse(await readFile(process.argv[3] ?? '', 'utf8')));

const logger = { debug() {}, info() {}, warn: console.error, error: console.error };
const common = { client, clock: systemClock, random: Math.random, logger };
const started = measure('before');
const nodes = createInformer<KubeNode>({ ...common, resource: NODES, transform: keepNode });
metrics.addInformer(NODES, nodes);
nodes.start();
await nodes.synced;
const controller = startVolumeController({
  ...common,
  nodes,
  executor: tellJobEnds(nodesAnswer, systemClock, metrics.onJobEnd),
  metrics,
  actsFor: () => true,
  host: 'bench',
  workers: 10,
  retry: { startMs: 1000, maxMs: 300_000 },
});
await controller.started;
const synced = measure('caches filled', started);
while (nodesAnswer.looks < nodesAnswer.volumes) await sleep(50);
const looked = measure('each looked at', synced);
await sleep(AT_REST);
const rested = measure('at rest', looked);
const before = process.cpuUsage();
const { body } = await metrics.read();
const { user, system } = process.cpuUsage(before);
console.log(`a scrape: ${body.length} bytes, ${((user + system) / 1000).toFixed(0)} ms of CPU`);
console.log(`heap for what it keeps: ${rested.own.toFixed(0)} MiB`);
if (writes.length > 0) throw new Error(`it was not at rest: ${[...new Set(writes)].join()}`);
await controller.stop(5000, 5000);
await nodes.stop();

/** Prints what was used since then; RSS before garbage is collected. */
function measure(what: string, since?: { at: number; cpu: number; own: number; heap: number }) {
  const rss = process.memoryUsage().rss / 2 ** 20;
  globalThis.gc?.();
  const heap = process.memoryUsage().heapUsed / 2 ** 20;
  const { user, system } = process.cpuUsage();
  const cpu = (user + system) / 1e6;
  const at = performance.now() / 1000;
  const first = since === undefined ? heap : since.heap - since.own;
  const seconds = at - (since?.at ?? at);
  const used = cpu - (since?.cpu ?? cpu);
  console.log(
    `${what.padEnd(16)} RSS ${rss.toFixed(0).padStart(4)} MiB   heap ${heap.toFixed(0).padStart(4)} MiB   ` +
      `${seconds.toFixed(1).padStart(5)} s, ${used.toFixed(1)} s of CPU`,
  );
  return { at, cpu, heap, own: heap - first };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { createPod, deletePod, forEach } from './attach-cluster.ts';
import type { Attaching } from './attach-programs.ts';
import type { Bench } from './attach-rounds.ts';
import type { Chosen, Side } from './attach-sides.ts';
import { type Usage, usageOf } from './processes.ts';

export interface Idle {
  /** Of a processor, as a share. */
  cores: number;
  /** In MiB. */
  rss: number;
  peak: number;
}

/** What it takes for collectors of garbage and first looks to come to rest, in ms. */
const SETTLE = 20_000;

/** As many pods, and each with its volume attached. */
export async function attachMany({ client }: Bench, side: Side, count: number): Promise<Chosen[]> {
  const pods = Array.from({ length: count }, (_, index): Chosen => {
    return { pod: side.pod(`${side.name}-many-${index}`, index), index };
  });
  await forEach(count, (index) => createPod(client, (pods[index] as Chosen).pod));
  await side.attached(pods);
  return pods;
}

export async function detachMany({ client }: Bench, side: Side, pods: readonly Chosen[]): Promise<void> {
  await forEach(pods.length, (index) => deletePod(client, (pods[index] as Chosen).pod));
  await side.detached(pods);
}

/** What it uses while nothing changes, for so many seconds. */
export async function atRest({ pid }: Pick<Attaching, 'pid'>, seconds: number): Promise<Idle> {
  await sleep(SETTLE);
  const before = await usageOf(pid);
  const began = performance.now();
  await sleep(seconds * 1000);
  const after: Usage = await usageOf(pid);
  const took = (performance.now() - began) / 1000;
  return { cores: (after.cpu - before.cpu) / took, rss: after.rss, peak: after.peak };
}

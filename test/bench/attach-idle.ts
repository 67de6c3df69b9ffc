import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { createPod, deletePod, forEach } from './attach-cluster.ts';
import type { Attaching } from './attach-programs.ts';
import type { Bench } from './attach-rounds.ts';
import type { Chosen, Side } from './attach-sides.ts';
import { usageOf } from './processes.ts';

export interface Idle {
  /** Of a processor, as a share. */
  cores: number;
  /** In MiB. */
  rss: number;
  peak: number;
}

/** What is used in so many ms tells whether a program has come to rest. */
const LOOK_EVERY = 1000;
const AT_EASE = 0.05;
/** Garbage of what was done before is collected some 30 s after that, once. */
const SETTLE = 60_000;

/** As many pods, and each with its volume attached. */
export async function attachMany({ client }: Bench, side: Side, count: number): Promise<Chosen[]> {
  const pods = Array.from({ length: count }, (_, index): Chosen => {
    return { pod: side.pod(`${side.name}-many-${index}`, index), index };
  });
  await forEach(count, (index) => createPod(client, (pods[index] as Chosen).pod));
  await side.attached(pods);
  return pods;
}

export async function detachMany(
  { client }: Bench,
  side: Side,
  pods: readonly Chosen[],
): Promise<void> {
  await forEach(pods.length, (index) => deletePod(client, (pods[index] as Chosen).pod));
  await side.detached(pods);
}

/** Waits until it has done what it does when it starts, or what it was told to. Throws after some minutes. */
export async function atEase({ pid }: Pick<Attaching, 'pid'>): Promise<void> {
  let quiet = 0;
  let before = (await usageOf(pid)).cpu;
  await until(
    `process ${pid} is at ease`,
    async () => {
      await sleep(LOOK_EVERY);
      const { cpu } = await usageOf(pid);
      quiet = cpu - before < AT_EASE ? quiet + 1 : 0;
      before = cpu;
      return quiet === 3 ? true : undefined;
    },
    300_000,
  );
}

/** What it uses while nothing changes, for so many seconds. */
export async function atRest(program: Pick<Attaching, 'pid'>, seconds: number): Promise<Idle> {
  await sleep(SETTLE);
  const before = await usageOf(program.pid);
  const began = performance.now();
  await sleep(seconds * 1000);
  const after = await usageOf(program.pid);
  const took = (performance.now() - began) / 1000;
  return { cores: (after.cpu - before.cpu) / took, rss: after.rss, peak: after.peak };
}

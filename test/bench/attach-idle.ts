import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { createPod, deletePod, forEach } from './attach-cluster.ts';
import type { Attaching } from './attach-programs.ts';
import type { Bench } from './attach-rounds.ts';
import type { Chosen, Side } from './attach-sides.ts';
import { usageOf } from './processes.ts';

export interface Idle {
  /** Share of one processor. */
  cores: number;
  /** In MiB, like `peak`. */
  rss: number;
  peak: number;
}

/** Interval (ms) of CPU time measurements. Below AT_EASE (s) per interval, a process is idle. */
const LOOK_EVERY = 1000;
const AT_EASE = 0.05;
/**
 * Time (ms) for Node.js to collect the garbage of earlier work: it does so once, after some 30 s.
 */
const SETTLE = 60_000;

/** Creates pods and waits until each has its volume attached. */
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

/**
 * Waits until a process has finished its startup or its last task.
 * @throws Error after five minutes
 */
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

/** Measures what a process uses while nothing changes. */
export async function atRest(program: Pick<Attaching, 'pid'>, seconds: number): Promise<Idle> {
  await sleep(SETTLE);
  const before = await usageOf(program.pid);
  const began = performance.now();
  await sleep(seconds * 1000);
  const after = await usageOf(program.pid);
  const took = (performance.now() - began) / 1000;
  return { cores: (after.cpu - before.cpu) / took, rss: after.rss, peak: after.peak };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Executor, Job, JobState } from '../../src/nodes/job.ts';
import type { WorkingNodes } from './working-nodes.ts';

/**
 * Device of a sparse Volume on a node, and the node's kubelet. Each entry of `faults` is a violated
 * invariant.
 */
export interface LazyNodes extends Executor {
  /**
   * Number of requests before a job runs: with 0, it runs during its submission; with Infinity, at
   * `runAll`.
   */
  laziness: number;
  /** Sets whether a pod uses the volume, which is mounted as soon as its device exists. */
  use(used: boolean): void;
  /** Runs all waiting jobs. */
  runAll(): Promise<void>;
  faults: string[];
}

const MOUNT_POINT = '/var/lib/kubelet/plugins/kubernetes.io/local-volume/mounts/a';

/**
 * Returns a node with one Volume. Its jobs run one after another, even if their submitter is gone.
 * A kubelet mounts the device while a pod uses the volume. Without the kubelet, there may be
 * several Volumes.
 */
export function lazyNodes(nodes: WorkingNodes, node: string, { kubelet = true } = {}): LazyNodes {
  const waiting: { job: Job; left: number }[] = [];
  const ended = new Map<string, JobState>();
  const idOf = ({ subject, id }: Job['key']) => `${subject} ${id}`;
  let used = false;

  function sync(): void {
    if (!kubelet) return;
    const { links, loops, mounts } = nodes.disk(node);
    const [mounted] = mounts.values();
    if (mounted !== undefined && !loops.has(mounted))
      executor.faults.push('detached while it is mounted');
    if (loops.size > 1) executor.faults.push(`${loops.size} devices have the file`);
    const [device] = links.values();
    if (!used) mounts.clear();
    else if (device !== undefined) mounts.set(MOUNT_POINT, device);
  }

  async function run({ key, steps }: Job): Promise<void> {
    const step = { name: steps[0]?.name ?? '', command: '' };
    // Separate steps, so that the state after each is checked.
    for (const [index, each] of steps.entries()) {
      try {
        await nodes.submit(node, { key: { ...key, id: `${key.id} ${index}` }, steps: [each] }, 0);
      } catch (error) {
        const { message } = error as Error;
        const how = message.startsWith('precondition')
          ? ({ state: 'guarded', refusal: message } as const)
          : ({ state: 'raced', exit: 1 } as const);
        ended.set(idOf(key), { ...how, step, output: message });
        return;
      } finally {
        sync();
      }
    }
    ended.set(idOf(key), { state: 'succeeded' });
  }

  async function pass(): Promise<void> {
    for (const each of waiting) each.left -= 1;
    while (waiting[0] !== undefined && waiting[0].left <= 0)
      await run((waiting.shift() as { job: Job }).job);
  }

  const executor: LazyNodes = {
    ...nodes,
    laziness: 0,
    faults: [],
    use(now) {
      used = now;
      sync();
    },
    async runAll() {
      while (waiting.length > 0) {
        for (const each of waiting) each.left = 0;
        await pass();
      }
    },
    async observe(name, probes) {
      await pass();
      return nodes.observe(name, probes);
    },
    async submit(_, job) {
      const known = ended.get(idOf(job.key));
      if (known !== undefined) return known;
      if (!waiting.some((each) => idOf(each.job.key) === idOf(job.key))) {
        waiting.push({ job, left: executor.laziness });
        if (executor.laziness === 0) await executor.runAll();
      }
      return ended.get(idOf(job.key)) ?? { state: 'running' };
    },
    async poll(_, keys, waitMs) {
      await pass();
      // A real node delays its answer, too.
      if (executor.laziness === Infinity && waiting.length > 0) await sleep(Math.min(waitMs, 50));
      return keys.map(
        (key) =>
          ended.get(idOf(key)) ??
          (waiting.some(({ job }) => idOf(job.key) === idOf(key))
            ? { state: 'running' }
            : { state: 'not-found' }),
      );
    },
    async purge(_, subject) {
      await pass();
      if (waiting.some(({ job }) => job.key.subject === subject)) return false;
      for (const id of ended.keys()) if (id.startsWith(`${subject} `)) ended.delete(id);
      return true;
    },
  };
  return executor;
}

import { readdir } from 'node:fs/promises';
import type { Executor, Job, JobState, Step } from '../../src/nodes/job.ts';
import { freeLoopNumber } from '../../src/storage/loops.ts';
import { observe as look } from '../../src/storage/observe.ts';
import { plan } from '../../src/storage/plan.ts';
import { ObservationError } from '../../src/storage/probe-results.ts';
import type { Desired, Observed } from '../../src/storage/registry.ts';
import type { Plan, VolumeOperation } from '../../src/storage/types.ts';
import { rereadTable } from './disks.ts';

let attempts = 0;

/** Observes a node like a kernel that rereads partition tables itself: see `Disk.reread`. */
export async function observe(
  executor: Executor,
  node: string,
  desired: Desired,
): Promise<Observed> {
  if (desired.type === 'raw') await rereadTable(desired.devicePath);
  return look((probes) => executor.observe(node, probes), desired);
}

interface Planned {
  plan: Plan;
  observed: Observed;
}

/** Plans from the current state of the node, and returns that state, too. */
async function observeAndPlan(
  executor: Executor,
  node: string,
  operation: VolumeOperation,
  desired: Desired,
): Promise<Planned> {
  const observed = await observe(executor, node, desired);
  const loopNumber = freeLoopNumber(observed.loops, new Set());
  return { plan: plan(operation, desired, observed, loopNumber), observed };
}

/** Plans from the current state of the node. */
export const planNow = async (...of: Parameters<typeof observeAndPlan>): Promise<Plan> =>
  (await observeAndPlan(...of)).plan;

/** Runs steps to their end, as a new job of the volume. */
export async function runSteps(
  executor: Executor,
  node: string,
  { uid }: Desired,
  steps: readonly Step[],
): Promise<JobState> {
  const job: Job = { key: { subject: uid, id: `test-${attempts++}` }, steps };
  let state = await executor.submit(node, job, 20_000);
  while (state.state === 'running') [state = state] = await executor.poll(node, [job.key], 20_000);
  return state;
}

/** Plans again if the observation failed: a partition may have vanished for a moment. */
async function planAgain(...of: Parameters<typeof observeAndPlan>): Promise<Planned> {
  try {
    return await observeAndPlan(...of);
  } catch (error) {
    if (error instanceof ObservationError) return observeAndPlan(...of);
    throw error;
  }
}

/**
 * Reports whether a precondition found no holders because the partition just vanished. udev
 * triggers a reread of the table; a kernel that reads no tables has no partition until the tests'
 * udev rule adds it.
 */
async function lostPartition(refusal: string): Promise<boolean> {
  const vanished = /^\/dev\/(loop\d+p\d+) is in use by another device, or no longer exists$/;
  const [, name] = vanished.exec(refusal) ?? [];
  if (name === undefined) return false;
  const holders = await readdir(`/sys/class/block/${name}/holders`).catch(() => []);
  return holders.length === 0;
}

/**
 * Observes, plans and runs until no step remains, like a controller: again after a conflict or a
 * failed precondition. Other nodes on this kernel allocate the same loop numbers.
 * @returns the last observation, or the last refusal
 */
export async function carryOut(
  executor: Executor,
  node: string,
  operation: VolumeOperation,
  desired: Desired,
): Promise<Observed | string> {
  let last: JobState | undefined;
  let steps: readonly Step[] = [];
  let guarded = 0;
  for (let round = 0; round < 30 && guarded < 3; round++) {
    const { plan: planned, observed } = await planAgain(executor, node, operation, desired);
    if ('refusal' in planned) return planned.refusal;
    // Another look might find the partition vanished for a moment.
    if (planned.steps.length === 0) return observed;
    steps = planned.steps;
    last = await runSteps(executor, node, desired, steps);
    if (last.state === 'guarded') {
      if (!(await lostPartition(last.refusal))) guarded++;
    } else if (last.state !== 'succeeded' && last.state !== 'raced') break;
  }
  // Uses that only preconditions detect are refusals, too.
  if (last?.state === 'guarded') return last.refusal;
  const left = steps.map(({ argv }) => argv.join(' '));
  throw new Error(`${operation} came to no end: ${JSON.stringify(last)}, after ${left.join('; ')}`);
}

import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import type { SnapshotHandle } from '../../api/snapshot-handle.ts';
import type { Volume } from '../../api/volume.ts';
import { RETRY } from '../../model/retry.ts';
import { NodeError } from '../../nodes/errors.ts';
import type { Executor, JobState, Probe, ProbeResult } from '../../nodes/job.ts';
import { describeFailure, withHint } from '../../nodes/job-text.ts';
import type { Follower } from '../../nodes/job-watcher.ts';
import { ObservationError } from '../../storage/probe-results.ts';
import type { Plan, Refusal } from '../../storage/types.ts';
import { type JobNote, jobKeyOf } from './job-record.ts';
import type { IsCurrent, NodeWork } from './node-work.ts';
import type { Freeze, Outcome } from './types.ts';

type Results = ReadonlyMap<string, ProbeResult>;

/** What storage knows of snapshots: `Wanted` is one as it sees it, `Seen` what was found of it on a node. */
export interface SnapshotStorage<Wanted, Seen> {
  /** What is looked at first, where the other probes depend on that; often nothing. */
  before(wanted: Wanted): readonly Probe[];
  /** @throws ObservationError */
  probes(wanted: Wanted, before: Results): readonly Probe[];
  /** @throws ObservationError */
  read(wanted: Wanted, before: Results, results: Results): Seen;
  plan(operation: 'take' | 'delete', wanted: Wanted, seen: Seen): Plan;
  /** The copy, if it is whole. Bytes of the volume. */
  copyOf(wanted: Wanted, seen: Seen): { sizeBytes: number } | undefined;
  /** Returns the bytes of the partial copy that a failed job left. */
  leftOf(wanted: Wanted, seen: Seen): bigint;
  /** Whether a job that was killed left the volume frozen. */
  leavesFrozen(wanted: Wanted, seen: Seen): boolean;
  /** Why it is not known whether there is a copy, where none was found. */
  awayOf(wanted: Wanted, seen: Seen): Refusal | undefined;
}

export interface ExecutorWorkDeps<Wanted, Seen> {
  executor: Executor;
  follower: Follower;
  clock: { now(): number };
  storage: SnapshotStorage<Wanted, Seen>;
  /**
   * A snapshot as storage sees it, by where its handle says that it is; or why that can be none.
   * @param volume the one that it is of; undefined where that is gone: then nothing can be taken
   */
  wantedOf(
    content: VolumeSnapshotContent,
    volume: Volume | undefined,
    node: string,
    handle: SnapshotHandle,
    freeze: Freeze | undefined,
  ): Wanted | { problem: string };
}

/** The work for snapshots as durable jobs on nodes. How a job ended is judged by a look at the node. */
export function createExecutorWork<Wanted extends object, Seen>({
  executor,
  follower,
  clock,
  storage,
  wantedOf,
}: ExecutorWorkDeps<Wanted, Seen>): NodeWork {
  async function lookBefore(node: string, wanted: Wanted): Promise<Results> {
    const probes = storage.before(wanted);
    return probes.length === 0 ? new Map() : executor.observe(node, probes);
  }

  async function see(node: string, wanted: Wanted, known?: Results, seen?: Results): Promise<Seen> {
    const before = known ?? (await lookBefore(node, wanted));
    return storage.read(
      wanted,
      before,
      seen ?? (await executor.observe(node, storage.probes(wanted, before))),
    );
  }

  const present = (wanted: Wanted, seen: Seen): Outcome => {
    const copy = storage.copyOf(wanted, seen);
    if (copy !== undefined) return { is: 'whole', ...copy };
    const away = storage.awayOf(wanted, seen);
    return away === undefined
      ? { is: 'absent' }
      : { is: 'unknown', message: withHint(away.refusal, away.hint) };
  };

  const poll = async (content: VolumeSnapshotContent, note: JobNote): Promise<JobState> =>
    (await executor.poll(note.node, [jobKeyOf(content, note)], 0))[0] as JobState;

  async function look(
    content: VolumeSnapshotContent,
    node: string,
    handle: SnapshotHandle,
    note: JobNote | undefined,
  ): Promise<Outcome> {
    const wanted = wantedOf(content, undefined, node, handle, undefined);
    if ('problem' in wanted) return { is: 'unknown', message: wanted.problem };
    const state = note?.node === node ? await poll(content, note) : undefined;
    if (state?.state === 'running') return { is: 'running' };
    return present(wanted, await see(node, wanted));
  }

  async function run(
    content: VolumeSnapshotContent,
    volume: Volume | undefined,
    note: JobNote,
    freeze: Freeze | undefined,
    isCurrent: IsCurrent,
  ): Promise<Outcome | undefined> {
    const { node, handle } = note;
    const wanted = wantedOf(content, volume, node, handle, freeze);
    if ('problem' in wanted) return { is: 'refused', message: wanted.problem };
    let state = await poll(content, note);
    let takenAt: number | undefined;
    let before: Results | undefined;
    if (state.state === 'not-found') {
      before = await lookBefore(node, wanted);
      const seen = await see(node, wanted, before);
      const plan = storage.plan(note.do, wanted, seen);
      if ('refusal' in plan) return { is: 'refused', message: withHint(plan.refusal, plan.hint) };
      if (plan.steps.length === 0) return present(wanted, seen);
      if (!(await isCurrent())) return undefined;
      const look = storage.probes(wanted, before);
      const job = { key: jobKeyOf(content, note), steps: plan.steps, look };
      takenAt = clock.now();
      state = await executor.submit(node, job, RETRY.submitWait);
    }
    if (state.state === 'running') return { is: 'running' };
    // What was seen as the job ended was asked for by this process.
    const known = state.state === 'succeeded' && before !== undefined ? state.seen : undefined;
    const seen = await see(node, wanted, before, known);
    const plan = storage.plan(note.do, wanted, seen);
    if (!('refusal' in plan) && plan.steps.length === 0) {
      // What is left of it is removed by the next look for the Volume, if not now.
      await executor.forget(node, note.volume);
      const found = present(wanted, seen);
      return found.is === 'whole' ? { ...found, takenAt } : found;
    }
    const left = { leftBytes: storage.leftOf(wanted, seen) };
    const frozen = storage.leavesFrozen(wanted, seen) ? ({ isFrozen: true } as const) : {};
    return { is: 'failed', message: describe(state, plan), ...left, ...frozen };
  }

  return {
    look: (...args) => answered(() => look(...args)) as Promise<Outcome>,
    take: (content, volume, note, freeze, isCurrent) =>
      answered(() => run(content, volume, note, freeze, isCurrent)),
    remove: (content, volume, note, isCurrent) =>
      answered(() => run(content, volume, note, undefined, isCurrent)),
    follow: (content, note, ended) => follower.follow(note.node, jobKeyOf(content, note), ended),
  };
}

function describe(state: Exclude<JobState, { state: 'running' }>, plan: Plan): string {
  switch (state.state) {
    case 'succeeded':
      return 'refusal' in plan
        ? withHint(plan.refusal, plan.hint)
        : `still to be done: ${plan.steps[0]?.name ?? ''}`;
    case 'not-found':
      return 'the node forgot the job';
    default:
      return describeFailure(state);
  }
}

/** A node that cannot be asked, or whose answer says nothing safe, leaves things unknown. */
async function answered(ask: () => Promise<Outcome | undefined>): Promise<Outcome | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof NodeError) {
      return {
        is: 'unknown',
        message: `node ${error.node}: ${withHint(error.message, error.hint)}`,
      };
    }
    if (error instanceof ObservationError) return { is: 'unknown', message: error.message };
    throw error;
  }
}

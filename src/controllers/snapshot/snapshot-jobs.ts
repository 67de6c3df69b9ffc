import type { Explanation } from '../../api/reasons.ts';
import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import type { SnapshotHandle } from '../../api/snapshot-handle.ts';
import type { Volume } from '../../api/volume.ts';
import type { Executor, Probe, ProbeResult } from '../../nodes/job.ts';
import { createJobRunner } from '../../nodes/job-runner.ts';
import { withHint } from '../../nodes/job-text.ts';
import type { JobWatcher } from '../../nodes/job-watcher.ts';
import type { Plan, Refusal } from '../../storage/types.ts';
import { answered } from '../lib/answered.ts';
import { type JobNote, jobKeyOf } from './job-record.ts';
import type { IsCurrent, NodeWork } from './node-work.ts';
import type { Freeze, Outcome } from './types.ts';

type Results = ReadonlyMap<string, ProbeResult>;

/**
 * Storage-specific part of snapshots: `Wanted` is a snapshot as storage sees it, `Seen` an
 * observation of it on a node.
 */
export interface SnapshotStorage<Wanted, Seen> {
  /** Returns the probes on which the other probes depend; often none. */
  before(wanted: Wanted): readonly Probe[];
  /** @throws ObservationError */
  probes(wanted: Wanted, before: Results): readonly Probe[];
  /** @throws ObservationError */
  read(wanted: Wanted, before: Results, results: Results): Seen;
  plan(operation: 'take' | 'delete', wanted: Wanted, seen: Seen): Plan;
  /** Returns the volume size in bytes of a complete copy; undefined if there is none. */
  copyOf(wanted: Wanted, seen: Seen): { sizeBytes: number } | undefined;
  /** Returns the bytes of the partial copy that a failed job left. */
  leftOf(wanted: Wanted, seen: Seen): bigint;
  /** Reports whether a killed job left the volume frozen. */
  leavesFrozen(wanted: Wanted, seen: Seen): boolean;
  /**
   * Returns why an absent copy may still exist; undefined if it does not. Called if none was found.
   */
  awayOf(wanted: Wanted, seen: Seen): Refusal | undefined;
}

export interface ExecutorWorkDeps<Wanted, Seen> {
  executor: Executor;
  jobWatcher: JobWatcher;
  clock: { timeOfDay(): number };
  storage: SnapshotStorage<Wanted, Seen>;
  /**
   * Returns a snapshot as storage sees it, at the place in its handle; or why none can be there.
   * @param volume the source volume; without it, no snapshot can be taken
   */
  wantedOf(
    content: VolumeSnapshotContent,
    volume: Volume | undefined,
    node: string,
    handle: SnapshotHandle,
    freeze: Freeze | undefined,
  ): Wanted | Explanation;
}

/**
 * Runs the work for snapshots as durable jobs on nodes. An observation of the node decides the
 * outcome of a job.
 */
export function createExecutorWork<Wanted extends object, Seen>({
  executor,
  jobWatcher,
  clock,
  storage,
  wantedOf,
}: ExecutorWorkDeps<Wanted, Seen>): NodeWork {
  const jobs = createJobRunner(executor);

  /**
   * Returns a function that observes a snapshot. It runs the probes that the others depend on once.
   */
  function observer(node: string, wanted: Wanted) {
    let before: Results | undefined;
    return async (results?: Results) => {
      const first = storage.before(wanted);
      before ??= first.length === 0 ? new Map() : await executor.observe(node, first);
      const probes = storage.probes(wanted, before);
      const found = results ?? (await executor.observe(node, probes));
      return { finalProbes: probes, seen: storage.read(wanted, before, found) };
    };
  }

  const present = (wanted: Wanted, seen: Seen): Outcome => {
    const copy = storage.copyOf(wanted, seen);
    if (copy !== undefined) return { is: 'whole', ...copy };
    const away = storage.awayOf(wanted, seen);
    return away === undefined
      ? { is: 'absent' }
      : { is: 'unknown', message: withHint(away.refusal, away.hint), detail: away.reason };
  };

  async function observeCopy(
    content: VolumeSnapshotContent,
    node: string,
    handle: SnapshotHandle,
    note: JobNote | undefined,
  ): Promise<Outcome> {
    const wanted = wantedOf(content, undefined, node, handle, undefined);
    if ('message' in wanted) return { is: 'unknown', ...wanted };
    const state = note?.node === node ? await jobs.poll(node, jobKeyOf(content, note)) : undefined;
    if (state?.state === 'running') return { is: 'running' };
    return present(wanted, (await observer(node, wanted)()).seen);
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
    if ('message' in wanted) return { is: 'refused', ...wanted };
    const observe = observer(node, wanted);
    let takenAt: number | undefined;
    const judge = async (results?: Results) => {
      const found = await observe(results);
      return { ...storage.plan(note.do, wanted, found.seen), ...found };
    };
    const end = await jobs.ensure(node, jobKeyOf(content, note), {
      ...{ plan: judge, judge, judgesFailures: true, purges: true },
      isCurrent: () =>
        isCurrent().finally(() => {
          takenAt = clock.timeOfDay();
        }),
    });
    switch (end?.is) {
      case undefined:
        return undefined;
      case 'running':
        return { is: 'running' };
      case 'refused':
        return { is: 'refused', message: end.message, detail: end.reason };
      case 'done': {
        const found = present(wanted, end.plan.seen);
        return found.is === 'whole' ? { ...found, takenAt } : found;
      }
      case 'failed': {
        const { message, reason: detail, plan } = end;
        const left = plan && { leftBytes: storage.leftOf(wanted, plan.seen) };
        const isFrozen = plan && storage.leavesFrozen(wanted, plan.seen);
        return { is: 'failed', message, detail, ...left, ...(isFrozen && { isFrozen }) };
      }
    }
  }

  return {
    observe: (...args) => unlessUnknown(() => observeCopy(...args)),
    take: (content, volume, note, freeze, isCurrent) =>
      unlessUnknown(() => run(content, volume, note, freeze, isCurrent)),
    remove: (content, volume, note, isCurrent) =>
      unlessUnknown(() => run(content, volume, note, undefined, isCurrent)),
    watch: (content, note, ended) => jobWatcher.watch(note.node, jobKeyOf(content, note), ended),
  };
}

/** Converts a NodeError or an ObservationError into the outcome `unknown`. */
const unlessUnknown = <T>(ask: () => Promise<T>): Promise<T | Outcome> =>
  answered(ask, ({ node, message, detail }) => ({
    is: 'unknown',
    message: node === undefined ? message : `node ${node}: ${message}`,
    detail,
  }));

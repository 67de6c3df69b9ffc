import { randomUUID } from 'node:crypto';
import { READY_REASON } from '../../api/names.ts';
import { type Explanation, explain, type Reason, reason } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { checkPreconditions } from '../../nodes/check-preconditions.ts';
import { failureReason } from '../../nodes/failure-reason.ts';
import type { Executor, FailedState, JobState, ProbeResult, Step } from '../../nodes/job.ts';
import { createJobRunner } from '../../nodes/job-runner.ts';
import { describeFailure, stepText, withHint } from '../../nodes/job-text.ts';
import type { JobWatcher, RunningJob } from '../../nodes/job-watcher.ts';
import { leftMounted, presenceOf, unusedPreconditions } from '../../storage/device.ts';
import type { LoopNumbers } from '../../storage/loop-numbers.ts';
import { freeLoopNumber } from '../../storage/loops.ts';
import { firstProbes } from '../../storage/observe.ts';
import { plan } from '../../storage/plan.ts';
import type { Presence } from '../../storage/presence.ts';
import type { Desired, Observed } from '../../storage/registry.ts';
import {
  deadHoldersBeside,
  holdersBeside,
  takingOver,
  withoutToken,
} from '../../storage/shared-fs/holders.ts';
import { answered } from '../lib/answered.ts';
import { isOnSeveral } from './desired-state.ts';
import type { AttachmentOperation } from './types.ts';

/** State of the device on the node after an operation. */
export type Outcome =
  | Extract<Presence, { is: 'attached' }>
  | { is: 'detached' }
  /** The device is attached, and the operation changed nothing. */
  | ({ is: 'in-use' } & Explanation)
  /**
   * The device is not attached; the operation did nothing or only a part. `heldBy`: nodes that
   * record that they hold the file.
   */
  | ({ is: 'failed'; heldBy?: readonly string[] } & Explanation)
  /**
   * The device may be attached or not. `nothingDone`: no job was submitted, and the observation
   * adds nothing to what is known. `silent`: the node did not answer, and the message reports only
   * that.
   */
  | ({ is: 'unknown'; nothingDone?: boolean; noDevice?: true; silent?: true } & Explanation);

export interface AttacherDeps {
  executor: Executor;
  jobWatcher: JobWatcher;
  loopNumbers: LoopNumbers;
  /** Returns the desired storage of a Volume on a node. Pure. */
  desiredOf(volume: Volume, node: string, readOnly: boolean): Desired;
  /** Reports whether an operator declared the machine off, by a live read. Throws API errors. */
  isOff(node: string): Promise<boolean>;
  /**
   * Observes the Volume's storage on the node; `seen` are results of the first probes that are
   * already available.
   * @throws NodeError, ObservationError
   */
  observe(
    volume: Volume,
    node: string,
    desired: Desired,
    seen: ReadonlyMap<string, ProbeResult> | undefined,
  ): Promise<Observed>;
}

/** `unused`: nothing on the node uses the device, which will be detached next. */
export type Precheck = (unused?: 'unused') => Promise<Explanation | undefined>;

export interface Attacher {
  /**
   * @param precheck called right before a job is submitted; no job is submitted if it returns a
   *   reason
   * @param onProgress called from time to time with the current step of a job
   */
  run(
    operation: AttachmentOperation,
    volume: Volume,
    signal: AbortSignal,
    precheck: Precheck,
    onProgress: (step: string) => void,
  ): Promise<Outcome>;
}

/**
 * Maximum number of jobs per operation. After a conflict or a change on the node, the operation is
 * planned again.
 */
const MAX_JOBS = 4;

export function createAttacherDetacher(deps: AttacherDeps): Attacher {
  const { executor, jobWatcher, loopNumbers } = deps;
  const jobs = createJobRunner(executor);
  /**
   * UID of a Volume and node, for which the persistent path led to another device at the last
   * attempt.
   */
  const failedAstray = new Set<string>();

  async function run(
    { kind, node, readOnly }: AttachmentOperation,
    volume: Volume,
    signal: AbortSignal,
    precheck: Precheck,
    onProgress: (step: string) => void,
  ): Promise<Outcome> {
    const desired = deps.desiredOf(volume, node, readOnly);
    const context: OperationContext = { volume, node, desired, signal, onProgress, seen: false };
    return answered(
      () => (kind === 'verify' ? verify(context) : { attach, detach }[kind](context, precheck)),
      ({ code, message, detail }) => ({
        ...{ ...unknown({ message, detail }), nothingDone: !context.seen },
        ...(code === 'unreachable' && { silent: true }),
      }),
    );
  }

  async function see(
    context: OperationContext,
    seen?: ReadonlyMap<string, ProbeResult>,
  ): Promise<Observed> {
    const observed = await deps.observe(context.volume, context.node, context.desired, seen);
    context.seen = true;
    return observed;
  }

  /**
   * Waits for jobs of an earlier process, whose results may be lost, removes them, then observes
   * the device.
   */
  async function verify(context: OperationContext): Promise<Outcome> {
    const { volume, node, desired } = context;
    const { uid = '' } = volume.metadata;
    if (!(await jobs.purge(node, uid))) return stillRuns(context);
    // No job is left that could still take the number.
    loopNumbers.release(node, uid);
    return presenceOf(desired, await see(context));
  }

  async function attach(context: OperationContext, precheck: Precheck): Promise<Outcome> {
    const outcome = await tryToAttach(context, precheck);
    // A job whose end is unknown may still take the number.
    if (outcome.is !== 'unknown')
      loopNumbers.release(context.node, context.volume.metadata.uid ?? '');
    return outcome;
  }

  async function tryToAttach(context: OperationContext, precheck: Precheck): Promise<Outcome> {
    const { volume, node, desired } = context;
    const { uid = '' } = volume.metadata;
    let seen: ReadonlyMap<string, ProbeResult> | undefined;
    let why: Explanation = { message: '' };
    let isLast = false;
    let lost = 0;
    for (let job = 0; job <= MAX_JOBS; job++) {
      const observed = await see(context, seen);
      const wanted = await takeOverFromDeadNodes(desired, node, observed);
      const number = freeLoopNumber(observed.loops, loopNumbers.ofOthers(node, uid), lost);
      // No await between `ofOthers` and `promise`: two volumes could otherwise take the same
      // number.
      loopNumbers.promise(node, uid, number);
      const planned = plan('attach', wanted, observed, number);
      if ('refusal' in planned) {
        loopNumbers.release(node, uid);
        const found = presenceOf(desired, observed);
        const refused = explained(planned);
        if (found.is === 'unknown' && found.noDevice)
          return { ...unknown(refused), nothingDone: job === 0 };
        if (found.is !== 'detached') return found;
        return {
          is: 'failed',
          ...refused,
          heldBy: holdersBeside(node, observed).map((holder) => holder.node),
        };
      }
      if (planned.astray === undefined) failedAstray.delete(`${uid} ${node}`);
      if (planned.steps.length === 0 || planned.grows) {
        loopNumbers.release(node, uid);
        if (isLast) return presenceOf(desired, observed);
        // The device was attached before: a detach job of an earlier process may still be pending.
        if (!(await jobs.purge(node, uid))) return stillRuns(context);
        isLast = true;
        seen = undefined;
        continue;
      }
      if (job === MAX_JOBS) break;
      // A pod may have started on the other device: report it before the path changes.
      if (planned.astray !== undefined && !isReported(volume, node)) {
        loopNumbers.release(node, uid);
        return verifyAfterFailure(context, { message: planned.astray, detail: planned.reason });
      }
      const not = await precheck();
      if (not !== undefined) {
        loopNumbers.release(node, uid);
        return verifyAfterFailure(context, not);
      }
      const end = await carryOut(context, 'attach', planned.steps);
      // Jobs of a Volume run in sequence, so no earlier job is left.
      isLast = true;
      if (end.state === 'failed') {
        loopNumbers.release(node, uid);
        return verifyAfterFailure(context, failure(end));
      }
      if (end.state === 'raced') lost += 1;
      seen = end.state === 'succeeded' ? end.seen : undefined;
      why = unfinished(end, planned.steps);
    }
    return verifyAfterFailure(context, why);
  }

  /**
   * Reports whether an earlier attempt reported that the persistent path leads to another device.
   * The condition of the Volume shows it or, for a Volume on several nodes, the last attempt on
   * this node.
   */
  function isReported(volume: Volume, node: string): boolean {
    if (isReportedAstray(volume)) return true;
    if (!isOnSeveral(volume)) return false;
    const key = `${volume.metadata.uid} ${node}`;
    const isAgain = failedAstray.has(key);
    failedAstray.add(key);
    return isAgain;
  }

  async function detach(context: OperationContext, precheck: Precheck): Promise<Outcome> {
    const { desired } = context;
    let seen: ReadonlyMap<string, ProbeResult> | undefined;
    let why: Explanation = { message: '' };
    /** Set once a job that detaches was submitted. */
    let begun = false;
    for (let job = 0; job <= MAX_JOBS; job++) {
      const observed = await see(context, seen);
      const found = presenceOf(desired, observed);
      const planned = plan('detach', desired, observed, 0);
      if ('refusal' in planned) {
        if (found.is === 'unknown') return found;
        return inUse(explained(planned), begun, found);
      }
      // A mount left by an interrupted expansion would count as a use: unmount it first, which
      // detaches nothing, then check for other users.
      const left = leftMounted(desired, observed);
      // Checked even if there is nothing to do on the node, as for a disk: a device in use stays
      // attached.
      const used = left.length > 0 ? undefined : await whatUses(context, observed);
      if (used !== undefined) return inUse(used, begun, found);
      if (planned.steps.length === 0) return { is: 'detached' };
      if (job === MAX_JOBS) break;
      const not = await precheck(left.length > 0 ? undefined : 'unused');
      if (not !== undefined) return inUse(not, begun, found);
      begun ||= left.length === 0;
      const steps = left.length > 0 ? left : planned.steps;
      const end = await carryOut(context, 'detach', steps);
      if (end.state === 'failed') return verifyAfterFailure(context, failure(end));
      seen = end.state === 'succeeded' ? end.seen : undefined;
      why = unfinished(end, steps);
    }
    return verifyAfterFailure(context, why);
  }

  /**
   * Returns what uses the device, or why that is unknown. A failed check does not make the
   * attachment uncertain: the node has just answered, and the device has not changed since.
   */
  const whatUses = (
    { node, desired }: OperationContext,
    observed: Observed,
  ): Promise<Explanation | undefined> =>
    answered<Explanation | undefined, Explanation>(async () => {
      const wanted = unusedPreconditions(desired, observed);
      const refused = await checkPreconditions(executor, node, wanted);
      return refused && explained(refused);
    }, useUnseen);

  /** Allows taking over a file that nodes share from holders whose machines are off. */
  async function takeOverFromDeadNodes(
    desired: Desired,
    node: string,
    observed: Observed,
  ): Promise<Desired> {
    return takingOver(desired, await deadHoldersBeside(node, observed, deps.isOff));
  }

  /** Observes the device and combines the result with the reason of the failure. */
  async function verifyAfterFailure(
    context: OperationContext,
    what: Explanation,
  ): Promise<Outcome> {
    const why = withoutTokens(what, context.desired);
    const found = presenceOf(context.desired, await see(context));
    switch (found.is) {
      case 'detached':
        return { is: 'failed', ...why };
      case 'attached':
        return { ...found, ...why };
      default:
        return found;
    }
  }

  /**
   * Runs the steps as one job and waits for its end. Each job has a new name: `verify` waits for
   * jobs of an earlier process.
   */
  async function carryOut(
    { volume, node, desired, signal, onProgress }: OperationContext,
    name: 'attach' | 'detach',
    steps: readonly Step[],
  ): Promise<Exclude<JobState, RunningJob>> {
    // The last 12 digits of a version 4 UUID are all random. Node.js fetches random bytes from the
    // kernel in batches.
    const id = `${name}-${randomUUID().slice(-12)}`;
    const subject = volume.metadata.uid ?? '';
    const job = { key: { subject, id }, steps, look: firstProbes(desired) };
    const end = await jobs.runToEnd(node, job, async () => {
      signal.throwIfAborted();
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        jobWatcher.watch(node, job.key, resolve, (running) => onProgress(stepText(running)));
      });
    });
    // If this fails, the next operation removes the rest of the job.
    await jobs.purge(node, subject);
    return end;
  }

  return { run };
}

interface OperationContext {
  volume: Volume;
  node: string;
  desired: Desired;
  signal: AbortSignal;
  onProgress: (step: string) => void;
  /** An observation is complete. No job is submitted before. */
  seen: boolean;
}

const isReportedAstray = ({ status }: Volume): boolean =>
  status?.conditions?.some(
    ({ type, reason }) => type === 'Ready' && reason === READY_REASON.pathAstray,
  ) ?? false;

const unknown = (why: Explanation): Extract<Outcome, { is: 'unknown' }> => ({
  is: 'unknown',
  ...why,
});

/** @param begun a detach job was submitted, so what was observed before may no longer hold */
function inUse(why: Explanation, begun: boolean, found: Presence): Outcome {
  if (!begun || (found.is === 'attached' && found.device !== undefined))
    return { is: 'in-use', ...why };
  return found.is === 'attached' ? { ...found, ...why } : unknown(why);
}

const stillRuns = ({ node }: OperationContext): Outcome =>
  unknown(explain('JobStillRuns', { node }));

const explained = (refused: { refusal: string; hint?: string; reason?: Reason }): Explanation => ({
  message: withHint(refused.refusal, refused.hint),
  detail: refused.reason,
});

const useUnseen = ({ message, detail }: Explanation): Explanation => ({
  message: `cannot check whether the device is in use: ${message}`,
  detail,
});

const failure = (state: FailedState): Explanation => ({
  message: describeFailure(state),
  detail: failureReason(state),
});

/** Returns why the operation ends without success after its last job. */
function unfinished(end: Exclude<JobState, RunningJob>, [first]: readonly Step[]): Explanation {
  if (end.state === 'not-found') return explain('JobForgotten');
  if (end.state !== 'succeeded') return failure(end);
  return {
    message: 'steps remain',
    detail: reason('StepsRemain', { step: first?.name ?? '' }),
  };
}

function withoutTokens({ message, detail }: Explanation, desired: Desired): Explanation {
  const parameters = Object.entries(detail?.parameters ?? {}).map(([name, value]) => [
    name,
    withoutToken(value, desired),
  ]);
  return {
    message: withoutToken(message, desired),
    detail: detail && { code: detail.code, parameters: Object.fromEntries(parameters) },
  };
}

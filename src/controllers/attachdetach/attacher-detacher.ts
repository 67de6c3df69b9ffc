import { randomUUID } from 'node:crypto';
import { READY_REASON } from '../../api/names.ts';
import { type Explanation, explain, type Reason, reason } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { checkPreconditions } from '../../nodes/check-preconditions.ts';
import { failureReason } from '../../nodes/failure-reason.ts';
import type { Executor, FailedState, JobState, ProbeResult, Step } from '../../nodes/job.ts';
import { createJobRunner } from '../../nodes/job-runner.ts';
import { describeFailure, stepText, withHint } from '../../nodes/job-text.ts';
import type { Follower, RunningJob } from '../../nodes/job-watcher.ts';
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

/** What is so on the node once an operation has ended. */
export type Outcome =
  | Extract<Presence, { is: 'attached' }>
  | { is: 'detached' }
  /** It is attached, and nothing was done. */
  | ({ is: 'in-use' } & Explanation)
  /** It is not attached, and nothing was done, or not all. `heldBy`: the nodes that have the file, by their own account. */
  | ({ is: 'failed'; heldBy?: readonly string[] } & Explanation)
  /**
   * It may be either. `nothingDone`: no job was submitted, and what was seen tells no more than was known. `silent`: the node
   * did not answer, and the message is of that alone.
   */
  | ({ is: 'unknown'; nothingDone?: boolean; noDevice?: true; silent?: true } & Explanation);

export interface AttacherDeps {
  executor: Executor;
  follower: Follower;
  loopNumbers: LoopNumbers;
  /** What storage is to have on a node for a Volume. Pure. */
  desiredOf(volume: Volume, node: string, readOnly: boolean): Desired;
  /** Whether somebody vouches that the machine is off, as the API server has it now. Throws what that refuses. */
  isOff(node: string): Promise<boolean>;
  /**
   * Looks at all that concerns it on the node; `seen` are answers of the first look that came already.
   * @throws NodeError, ObservationError
   */
  look(
    volume: Volume,
    node: string,
    desired: Desired,
    seen: ReadonlyMap<string, ProbeResult> | undefined,
  ): Promise<Observed>;
}

/** `unused`: nothing on the node uses the device, which is about to be detached. */
export type Precheck = (unused?: 'unused') => Promise<Explanation | undefined>;

/** Carries out one operation on one node. */
export interface Attacher {
  /**
   * @param precheck asked right before a job is submitted, when all is ready for it; where it answers, none is
   * @param onProgress called now and then with the step that a job is at
   */
  run(
    operation: AttachmentOperation,
    volume: Volume,
    signal: AbortSignal,
    precheck: Precheck,
    onProgress: (step: string) => void,
  ): Promise<Outcome>;
}

/** Jobs of one operation: where another one was faster, or the node changed meanwhile, it is planned again. */
const MAX_JOBS = 4;

export function createAttacherDetacher(deps: AttacherDeps): Attacher {
  const { executor, follower, loopNumbers } = deps;
  const jobs = createJobRunner(executor);
  /** UIDs of Volumes and nodes for which the last attempt failed because the persistent path leads to another device. */
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
    const observed = await deps.look(context.volume, context.node, context.desired, seen);
    context.seen = true;
    return observed;
  }

  /** Whoever worked on it before may have lost the answer: what still runs is waited for, and its jobs are removed. */
  async function verify(context: OperationContext): Promise<Outcome> {
    const { volume, node, desired } = context;
    const { uid = '' } = volume.metadata;
    if (!(await jobs.purge(node, uid))) return stillRuns(context);
    // No job is left that could still take it.
    loopNumbers.release(node, uid);
    return presenceOf(desired, await see(context));
  }

  async function attach(context: OperationContext, precheck: Precheck): Promise<Outcome> {
    const outcome = await tryToAttach(context, precheck);
    // A job that nobody knows the end of may still take the number.
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
      // Nothing is awaited between the look at what others were promised and this.
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
        // It was there before: a job of an earlier process that is to detach it may not have come to that.
        if (!(await jobs.purge(node, uid))) return stillRuns(context);
        isLast = true;
        seen = undefined;
        continue;
      }
      if (job === MAX_JOBS) break;
      // A pod may have started on the other device: report it before the path changes.
      if (planned.astray !== undefined && !isTold(volume, node)) {
        loopNumbers.release(node, uid);
        return verifyAfterFailure(context, { message: planned.astray, detail: planned.reason });
      }
      const not = await precheck();
      if (not !== undefined) {
        loopNumbers.release(node, uid);
        return verifyAfterFailure(context, not);
      }
      const end = await carryOut(context, 'attach', planned.steps);
      // Jobs of a Volume run one after the other.
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
   * Returns whether it was reported that the persistent path leads to another device: by the condition of the Volume or, as that is of
   * one of several nodes, by the failure of the last attempt on this one.
   */
  function isTold(volume: Volume, node: string): boolean {
    if (isToldAstray(volume)) return true;
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
    /** A job that detaches was submitted. */
    let begun = false;
    for (let job = 0; job <= MAX_JOBS; job++) {
      const observed = await see(context, seen);
      const found = presenceOf(desired, observed);
      const planned = plan('detach', desired, observed, 0);
      if ('refusal' in planned) {
        if (found.is === 'unknown') return found;
        return inUse(explained(planned), begun, found);
      }
      // It would count as a use, and is ours: to take it off detaches nothing, and what else uses the device is seen after it.
      const left = leftMounted(desired, observed);
      // Also where there is nothing to be done on the node, as for a disk: it is not let go of while it is used.
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
   * What uses it, or why that cannot be seen: the node answered just now, and nothing was done to the device since, so that it
   * is where it was, and not in doubt.
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

  /** A file that nodes share may be held by one that is off. */
  async function takeOverFromDeadNodes(
    desired: Desired,
    node: string,
    observed: Observed,
  ): Promise<Desired> {
    return takingOver(desired, await deadHoldersBeside(node, observed, deps.isOff));
  }

  /** What is so now, with what went wrong. */
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
   * Runs the steps as one job and waits for its end. Its name is new each time: what an earlier process submitted is
   * waited for by `verify`.
   */
  async function carryOut(
    { volume, node, desired, signal, onProgress }: OperationContext,
    name: 'attach' | 'detach',
    steps: readonly Step[],
  ): Promise<Exclude<JobState, RunningJob>> {
    // All random, of a UUID of version 4; Node.js asks the kernel for many of them at once.
    const id = `${name}-${randomUUID().slice(-12)}`;
    const subject = volume.metadata.uid ?? '';
    const job = { key: { subject, id }, steps, look: firstProbes(desired) };
    const end = await jobs.runToEnd(node, job, async () => {
      signal.throwIfAborted();
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        follower.follow(node, job.key, resolve, (running) => onProgress(stepText(running)));
      });
    });
    // What is left of it is removed by the next look at the latest.
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
  /** A look came to its end. No job is submitted before one has. */
  seen: boolean;
}

const isToldAstray = ({ status }: Volume): boolean =>
  status?.conditions?.some(
    ({ type, reason }) => type === 'Ready' && reason === READY_REASON.pathAstray,
  ) ?? false;

const unknown = (why: Explanation): Extract<Outcome, { is: 'unknown' }> => ({
  is: 'unknown',
  ...why,
});

/** @param begun to detach it: what was there before need not be there any more, by what was found since */
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
  message: `whether it is in use cannot be seen: ${message}`,
  detail,
});

const failure = (state: FailedState): Explanation => ({
  message: describeFailure(state),
  detail: failureReason(state),
});

/** The reason to give up after a job that was the last. */
function unfinished(end: Exclude<JobState, RunningJob>, [first]: readonly Step[]): Explanation {
  if (end.state === 'not-found') return explain('JobForgotten');
  if (end.state !== 'succeeded') return failure(end);
  return {
    message: 'still to be done',
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

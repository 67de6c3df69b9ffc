import { explain, type Reason } from '../api/reasons.ts';
import type { Executor, Job, JobKey, JobState, ProbeResult } from './job.ts';
import type { RunningJob } from './job-watcher.ts';
import { type JobPlan, type NextStep, nextStep } from './next-step.ts';

/** Time (ms) to wait for a job in the round trip that starts it: most jobs end within it. */
const SUBMIT_WAIT = 1500;

/** Part of a job that differs by controller. */
export interface JobWork<Plan extends JobPlan> {
  /** Observes the node and plans; called if the node does not know the job. */
  plan(): Promise<Plan>;
  /** Reports whether the plan is still current; called right before the job is submitted. */
  isCurrent(): Promise<boolean>;
  /**
   * Plans again once the job ended. `seen`: what the job observed at its end, if this call
   * submitted it.
   */
  judge(seen?: ReadonlyMap<string, ProbeResult>): Promise<Plan>;
  /** Judges a failed job as well, which may have done everything. Default: its failure stands. */
  judgesFailures?: true;
  /** Purges the subject's jobs once this one is judged as done. */
  purges?: true;
}

type Ended = Exclude<JobState, RunningJob>;

/** Outcome of a job. */
export type Ensured<Plan extends JobPlan> =
  | { is: 'running'; output: string | undefined }
  /** `refused`: no job was submitted. */
  | Extract<NextStep<Plan>, { is: 'done' | 'refused' }>
  /**
   * The state is `not-found` if the node lost the job at once. `plan`: set if the job was judged.
   */
  | {
      is: 'failed';
      state: Ended;
      message: string;
      publicMessage?: string;
      reason: Reason | undefined;
      plan: Plan | undefined;
    };

export type JobRunner = ReturnType<typeof createJobRunner>;

/**
 * Creates a runner of jobs: no controller calls `submit`, `poll` and `purge` of an executor. Throws
 * NodeError.
 */
export function createJobRunner(executor: Executor) {
  const poll = async (node: string, key: JobKey, holdMs = 0): Promise<JobState> =>
    (await executor.poll(node, [key], holdMs))[0] as JobState;

  /**
   * Starts a job, or joins the one that the node has under its key, and waits a moment for its end.
   */
  const submit = (node: string, job: Job) => executor.submit(node, job, SUBMIT_WAIT);

  /**
   * Removes what the node keeps of a subject's jobs. Returns false, and removes nothing, while one
   * runs.
   */
  const purge = (node: string, subject: string) => executor.purge(node, subject);

  /**
   * Continues a job from its present state, and can be called again at any time. It submits the job
   * if the node does not know it and steps remain, and judges its end. Returns undefined if
   * `isCurrent` denies it.
   */
  async function ensure<Plan extends JobPlan>(
    node: string,
    key: JobKey,
    work: JobWork<Plan>,
  ): Promise<Ensured<Plan> | undefined> {
    let state = await poll(node, key);
    let seen: ReadonlyMap<string, ProbeResult> | undefined;
    if (state.state === 'not-found') {
      const next = nextStep(state, await work.plan());
      if (next.is === 'done' || next.is === 'refused') return next;
      if (next.is === 'submit') {
        if (!(await work.isCurrent())) return undefined;
        const { steps, finalProbes } = next.plan;
        state = await submit(node, { key, steps, ...(finalProbes && { finalProbes }) });
        if (state.state === 'succeeded') seen = state.seen;
      }
    }
    if (state.state === 'running') return { is: 'running', output: state.output };
    const isJudged = state.state === 'succeeded' || work.judgesFailures;
    const plan = isJudged ? await work.judge(seen) : undefined;
    const judged = nextStep({ state: 'succeeded' }, plan);
    if (judged.is === 'done') {
      if (work.purges) await purge(node, key.subject);
      return judged;
    }
    const next = nextStep(state, plan);
    if (state.state !== 'not-found' && 'reason' in next)
      return { ...next, is: 'failed', state, plan };
    const { message, detail } = explain('JobLost');
    return { is: 'failed', state, message, reason: detail, plan };
  }

  /**
   * Submits a job and waits for its end.
   * @param pause awaited before each poll; what it throws ends the wait, and not the job
   * @param holdMs how long the node holds each answer back while the job runs
   */
  async function runToEnd(
    node: string,
    job: Job,
    pause: () => Promise<void>,
    holdMs = 0,
  ): Promise<Ended> {
    let state = await executor.submit(node, job, holdMs || SUBMIT_WAIT);
    while (state.state === 'running') {
      await pause();
      state = await poll(node, job.key, holdMs);
    }
    return state;
  }

  return { poll, submit, purge, ensure, runToEnd };
}

import type { Reason, Refused } from '../api/reasons.ts';

/** What is done on a node, as data. Nothing here knows what the programs are for. */

/** What a precondition's command must answer for the step to go on. What is absent is not looked at. */
export interface Expect {
  /** The exit status. */
  exit?: number;
  /**
   * Standard output without newlines at its end: exactly this text; or one with `has`, by which is known that the
   * command did look, and without `lacks`.
   */
  stdout?: { is: string } | { has: string; lacks: string };
}

/**
 * A check of the node right before a step: if it is not as expected, neither the step nor any after it runs. It carries its
 * refusal; the hint is for where it is asked while no job runs.
 */
export interface Precondition {
  refusal: string;
  hint?: string;
  reason?: Reason;
  argv: readonly string[];
  expect: Expect;
  /**
   * Where the command may wait for what never comes: what it means when it was ended for that, as a probe. In a job it is waited
   * for, and shown as the step that the job is at.
   */
  late?: Refused;
}

/** One command, run as root. Its program is looked up on the node's PATH, and it sees nothing of a shell. */
export interface Step {
  /** For a person: "make the ext4 file system". */
  name: string;
  argv: readonly string[];
  /** Text for standard input; empty when absent. */
  stdin?: string;
  preconditions: readonly Precondition[];
  /**
   * The path of a block device, a whole disk: locked (flock(2), exclusive) while the preconditions and the command run, so that
   * neither udev nor another job of its partitions is at it. Where it is not free within a minute the step fails.
   */
  lock?: string;
  /** The step fails when someone else was faster, so failing means: look again, plan again. */
  failureMeansConflict?: boolean;
}

/** Names a job for ever: submitting one that the node knows starts nothing. */
export interface JobKey {
  /** What the job works on. Jobs of one subject run one after the other. */
  subject: string;
  id: string;
}

/** Steps that run on a node as one, whether or not whoever submitted them is still there. */
export interface Job {
  key: JobKey;
  steps: readonly Step[];
  /** What is looked at once it has succeeded, and told with its end, where a transport can: a round trip less. */
  look?: readonly Probe[];
}

/** A step as the node tells of it. */
export interface StepFacts {
  name: string;
  /** The command as one could type it. */
  command: string;
}

export type JobState =
  /** The node knows no such job: never submitted, or its memory of jobs (a tmpfs) went with a reboot. */
  | { state: 'not-found' }
  /** No step while the job waits for another one of its subject. `output`: the end of what the step printed so far. */
  | { state: 'running'; step?: StepFacts; output?: string }
  /** `seen`: what the job's look found right then. */
  | { state: 'succeeded'; seen?: ReadonlyMap<string, ProbeResult> }
  /** A step's program ended with a status other than 0. `output` is the end of what it printed. */
  | { state: 'failed'; step: StepFacts; exit: number; output: string }
  /** The same, of a step that may be outrun, or whose program was killed by a signal: look again, plan again. */
  | { state: 'raced'; step: StepFacts; exit: number; output: string }
  /** A precondition did not hold: the node is not what the plan was made for. An earlier version wrote no reason. */
  | { state: 'guarded'; step: StepFacts; refusal: string; reason?: Reason; output: string }
  /** The job's processes are gone and it wrote no result. */
  | { state: 'died'; step?: StepFacts };

/** A job that did not do what it was to do. */
export type FailedState = Extract<JobState, { state: 'failed' | 'raced' | 'guarded' | 'died' }>;

/** One read-only command of an observation. */
export interface Probe {
  name: string;
  argv: readonly string[];
}

/** `exit` is 127 where the node has no such program. */
export interface ProbeResult {
  exit: number;
  stdout: string;
  stderr: string;
}

/** Hands of one kind (ssh, local, …) on the nodes. Every method throws NodeError, and a RangeError for a key that names no folder. */
export interface Executor {
  /** Runs read-only commands in one round trip. Results by the probe's name. */
  observe(node: string, probes: readonly Probe[]): Promise<Map<string, ProbeResult>>;
  /** Starts a job, or joins the one that the node has under this key. Waits up to `waitMs` for its end. */
  submit(node: string, job: Job, waitMs: number): Promise<JobState>;
  /** The states of many jobs, in the order asked, as soon as one of them has ended, after `waitMs` at the latest. */
  poll(node: string, keys: readonly JobKey[], waitMs: number): Promise<JobState[]>;
  /** Removes what the node keeps of a subject's jobs. False, and nothing removed, while one of them runs. */
  purge(node: string, subject: string): Promise<boolean>;
  /** The subjects that the node keeps anything of: of jobs that run or ended and were not forgotten. */
  subjects(node: string): Promise<string[]>;
  /** Ends connections. Jobs go on. */
  close(): Promise<void>;
}

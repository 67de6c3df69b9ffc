import type { Reason, Refused } from '../api/reasons.ts';

/** Work on a node, as data. Nothing here depends on the purpose of the programs. */

/**
 * Answer that a precondition's command must give for the step to run. An absent field is not
 * checked.
 */
export interface Expect {
  /** The exit status. */
  exit?: number;
  /**
   * Standard output without newlines at its end: exactly this text; or a text with `has`, which
   * proves that the command ran, and without `lacks`.
   */
  stdout?: { is: string } | { has: string; lacks: string };
}

/**
 * Check of the node right before a step. If it fails, neither the step nor any later one runs. It
 * has its refusal; the hint is for a check outside a job.
 */
export interface Precondition {
  refusal: string;
  hint?: string;
  reason?: Reason;
  argv: readonly string[];
  expect: Expect;
  /**
   * Refusal if the command, which may hang, is killed as a probe. A job waits for the command, and
   * shows it as its present step.
   */
  late?: Refused;
}

/**
 * Command that runs as root. Its program is searched on the node's PATH, and no shell parses it.
 */
export interface Step {
  /** Name for users: "make the ext4 file system". */
  name: string;
  argv: readonly string[];
  /** Text for standard input; empty when absent. */
  stdin?: string;
  preconditions: readonly Precondition[];
  /**
   * Path of a block device, a whole disk. It is locked (flock(2), exclusive) while the
   * preconditions and the command run, against udev and jobs of its other partitions. The step
   * fails if the lock is not free within a minute.
   */
  lock?: string;
  /**
   * True if the step fails when another program was faster. A failure then means: observe and plan
   * again.
   */
  failureMeansConflict?: boolean;
}

/** Permanent name of a job: submitting one that the node knows starts nothing. */
export interface JobKey {
  /** Object of the job's work. Jobs of one subject run one after the other. */
  subject: string;
  id: string;
}

/** Steps that run on a node as one, even if their submitter is gone. */
export interface Job {
  key: JobKey;
  steps: readonly Step[];
  /**
   * Probes to run once the job has succeeded. Their results come with its end if the transport
   * supports that, which saves a round trip.
   */
  finalProbes?: readonly Probe[];
}

/** Step as the node reports it. */
export interface StepFacts {
  name: string;
  /** Command as typed in a shell. */
  command: string;
}

/**
 * State of a job. Result files on nodes, the Salt module and metrics have the same words: `raced`
 * for a conflict, `guarded` for a precondition that did not hold.
 */
export type JobState =
  /** The node knows no such job: it was never submitted, or a reboot cleared the jobs (a tmpfs). */
  | { state: 'not-found' }
  /**
   * No step while the job waits for another one of its subject. `output`: end of the step's output
   * so far.
   */
  | { state: 'running'; step?: StepFacts; output?: string }
  /** `seen`: results of the job's `finalProbes`. */
  | { state: 'succeeded'; seen?: ReadonlyMap<string, ProbeResult> }
  /** A step's program ended with a status other than 0. `output` is the end of what it printed. */
  | { state: 'failed'; step: StepFacts; exit: number; output: string }
  /**
   * As `failed`, for a step that may lose a race or was killed by a signal: observe and plan again.
   */
  | { state: 'raced'; step: StepFacts; exit: number; output: string }
  /**
   * A precondition did not hold: the node is not in the planned state. An earlier version wrote no
   * reason.
   */
  | { state: 'guarded'; step: StepFacts; refusal: string; reason?: Reason; output: string }
  /** The job's processes are gone and it wrote no result. */
  | { state: 'died'; step?: StepFacts };

/** State of a job that did not complete. */
export type FailedState = Extract<JobState, { state: 'failed' | 'raced' | 'guarded' | 'died' }>;

/** Read-only command of an observation. */
export interface Probe {
  name: string;
  argv: readonly string[];
}

/** `exit` is 127 if the node has no such program. */
export interface ProbeResult {
  exit: number;
  stdout: string;
  stderr: string;
}

/**
 * Access to nodes by one transport (ssh, local, …). Every method throws NodeError, and RangeError
 * for a key that is no valid directory name.
 */
export interface Executor {
  /** Runs read-only commands in one round trip. Returns the results by the probe's name. */
  observe(node: string, probes: readonly Probe[]): Promise<Map<string, ProbeResult>>;
  /**
   * Starts a job, or joins the one that the node has under this key. Waits up to `waitMs` for its
   * end.
   */
  submit(node: string, job: Job, waitMs: number): Promise<JobState>;
  /**
   * Returns the states of jobs, in the given order, once one of them has ended, after `waitMs` at
   * the latest.
   */
  poll(node: string, keys: readonly JobKey[], waitMs: number): Promise<JobState[]>;
  /**
   * Removes what the node keeps of a subject's jobs. Returns false, and removes nothing, while one
   * runs.
   */
  purge(node: string, subject: string): Promise<boolean>;
  /**
   * Returns the subjects that the node keeps anything of: jobs that run, or ended and were not
   * purged.
   */
  subjects(node: string): Promise<string[]>;
  /** Closes connections. Jobs continue. */
  close(): Promise<void>;
}

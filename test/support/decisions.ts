import { expect } from '@jest/globals';
import { type Reason, reason } from '../../src/api/reasons.ts';
import type { Volume, VolumeStatus } from '../../src/api/volume.ts';
import { decide } from '../../src/controllers/volume/decide.ts';
import { withStalled } from '../../src/controllers/volume/stalled.ts';
import type { Decision, Input, Unknown } from '../../src/controllers/volume/types.ts';
import type { JobState } from '../../src/nodes/job.ts';
import type { Observed } from '../../src/storage/registry.ts';
import { LINK } from './link-words.ts';
import { FILE, input, NOW, UID, volume } from './volume-input.ts';

/** Statuses for tables of decisions, and summaries of decisions. */

export const at = new Date(NOW).toISOString();
export const deleted = { deletionTimestamp: at };
export const prepared = { node: 'n1', paths: [FILE], identity: `ext4 ${UID}` };

export function status(
  phase: VolumeStatus['phase'],
  job: string | undefined,
  ready: [string, string, string?, Reason?] = ['Unknown', 'Pending'],
  more: VolumeStatus = {},
): VolumeStatus {
  const attempt = Number(job?.split('/')[1]);
  return {
    ...(phase === undefined ? {} : { phase }),
    ...(job === undefined ? {} : { job, attempt: attempt || 1 }),
    conditions: withStalled(
      [
        {
          type: 'Ready',
          status: ready[0] as 'True',
          reason: ready[1],
          message: ready[2] ?? '',
          ...(ready[3] && { detail: ready[3] }),
          lastUpdateTime: at,
          lastTransitionTime: at,
        },
      ],
      phase,
    ),
    observedGeneration: 1,
    ...more,
  };
}

export const pending = (job?: string, more?: VolumeStatus) =>
  status('Pending', job, ['Unknown', 'Pending'], more);
export const available = (job = 'PrepareVolume/DONE') =>
  status('Available', job, ['True', 'Available'], {
    prepared,
    deviceName: 'loop3',
    devicePath: LINK,
    capacity: '1Gi',
  });
export const terminating = (job?: string, more?: VolumeStatus) =>
  status('Terminating', job, ['Unknown', 'Terminating'], { prepared, ...more });
export const step = { name: 'make the ext4 file system', command: "'mkfs.ext4' 'x'" };
/** Reason of a Volume whose job runs that step. */
export const stepRuns = reason('JobStepRuns', { step: step.name });
export const away = {
  unknown: 'node n1 is unreachable over ssh',
  reason: 'NodeUnreachable',
} as const;

/** Returns the summary of a decision, short enough for a table. */
export function outcome(parts: Partial<Input>, now = NOW): unknown {
  return summary(decide(input(parts), now));
}

export function summary(decision: Decision): unknown {
  const { action } = decision;
  if (action === undefined) return decision;
  switch (action.do) {
    case 'set-status': {
      const ready = action.status.conditions?.find(({ type }) => type === 'Ready');
      return [action.status.phase, action.status.job, ready?.status, ready?.reason, ready?.message];
    }
    case 'submit':
      return ['submit', action.steps.length, action.loopNumber];
    default:
      return action.do;
  }
}

type JobAnswer = NonNullable<Input['job']>;

interface Given extends Omit<Partial<Input>, 'volume' | 'job' | 'node' | 'observation'> {
  metadata?: Partial<Volume['metadata']>;
  spec?: Partial<Volume['spec']>;
  /** State of the job, if it was polled. */
  job?: JobState | 'not-found' | 'running' | 'succeeded' | 'died' | JobAnswer;
  /** Observation of the node. */
  node?: Observed | Unknown;
}

/** Returns the input of a decision about a Volume with that status. */
export function given(
  status: VolumeStatus | undefined,
  { metadata, spec, job, node, ...parts }: Given = {},
): Partial<Input> & { volume: Volume } {
  const whole = volume(status, metadata);
  return {
    volume: { ...whole, spec: { ...whole.spec, ...spec } },
    ...(job !== undefined && { job: answered(job) }),
    ...(node !== undefined && { observation: 'unknown' in node ? node : { known: node } }),
    ...parts,
  };
}

function answered(job: NonNullable<Given['job']>): JobAnswer {
  if (typeof job === 'string') return { known: { state: job } };
  return 'state' in job ? { known: job } : job;
}

/** Returns the same input for a Volume that is marked for deletion. */
export const deleting = (status: VolumeStatus | undefined, parts: Given = {}) =>
  given(status, { metadata: deleted, ...parts });

type Message = string | RegExp;
type Attempt = number | 'DONE';

const ready =
  (phase: VolumeStatus['phase'], job: string, status: string, reason: string) =>
  (message: Message = '') => [
    phase,
    job,
    status,
    reason,
    typeof message === 'string' ? message : expect.stringMatching(message),
  ];

/** Expected statuses, in the form of `outcome`. */
export const preparing = (attempt: Attempt, message?: Message) =>
  ready('Pending', `PrepareVolume/${attempt}`, 'Unknown', 'Pending')(message);
export const waitingForSource = (attempt: number, message: Message) =>
  ready('Pending', `PrepareVolume/${attempt}`, 'Unknown', 'WaitingForSource')(message);
export const creationFailed = (attempt: Attempt, message: Message) =>
  ready('Failed', `PrepareVolume/${attempt}`, 'False', 'CreationError')(message);
export const isAvailable = ready('Available', 'PrepareVolume/DONE', 'True', 'Available');
export const notAttached = ready('Available', 'PrepareVolume/DONE', 'Unknown', 'Attaching');
export const unavailable = ready('Failed', 'PrepareVolume/DONE', 'False', 'UnavailableError');
export const pathAstray = ready('Failed', 'PrepareVolume/DONE', 'False', 'PathAstray');
export const removing = (attempt: Attempt, message?: Message) =>
  ready('Terminating', `UnprepareVolume/${attempt}`, 'Unknown', 'Terminating')(message);

export type Row = [name: string, parts: Partial<Input>, expected: unknown, now?: number];

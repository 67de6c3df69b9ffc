import type { VolumeStatus } from '../../src/api/volume.ts';
import { decide } from '../../src/volumes/decide.ts';
import type { Decision, Input } from '../../src/volumes/types.ts';
import { FILE, input, NOW, UID } from './volume-input.ts';

/** Statuses that tables about decisions begin with, and what a decision comes to. */

export const at = new Date(NOW).toISOString();
export const deleted = { deletionTimestamp: at };
export const prepared = { node: 'n1', paths: [FILE], identity: `ext4 ${UID}` };

export function status(
  phase: VolumeStatus['phase'],
  job: string | undefined,
  ready: [string, string, string?] = ['Unknown', 'Pending'],
  more: VolumeStatus = {},
): VolumeStatus {
  const attempt = Number(job?.split('/')[1]);
  return {
    ...(phase === undefined ? {} : { phase }),
    ...(job === undefined ? {} : { job, attempt: attempt || 1 }),
    conditions: [
      {
        type: 'Ready',
        status: ready[0] as 'True',
        reason: ready[1],
        message: ready[2] ?? '',
        lastUpdateTime: at,
        lastTransitionTime: at,
      },
    ],
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
    devicePath: `/dev/disk/by-uuid/${UID}`,
    capacity: '1Gi',
  });
export const terminating = (job?: string, more?: VolumeStatus) =>
  status('Terminating', job, ['Unknown', 'Terminating'], { prepared, ...more });
export const step = { name: 'make the ext4 file system', command: "'mkfs.ext4' 'x'" };
export const away = { unknown: 'node n1 is not reached over ssh', reason: 'NodeUnreachable' } as const;

/** What a decision comes to, short enough for a table. */
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

export type Row = [name: string, parts: Partial<Input>, expected: unknown, now?: number];

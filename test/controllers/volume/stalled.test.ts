import { expect, test } from '@jest/globals';
import type { Condition, VolumeStatus } from '../../../src/api/volume.ts';
import { decide } from '../../../src/controllers/volume/decide.ts';
import { type Ready, setStatus } from '../../../src/controllers/volume/status.ts';
import { available } from '../../support/decisions.ts';
import { input, NOW, volume } from '../../support/volume-input.ts';

/**
 * Returns the status that kstatus computes for a custom resource, as Compute of
 * sigs.k8s.io/cli-utils (pkg/kstatus/status, commit 5895ad6): the first rule that matches decides.
 */
function kstatus({ metadata, status }: ReturnType<typeof volume>): string {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  const observed = status?.observedGeneration;
  if (observed !== undefined && observed !== metadata.generation) return 'InProgress';
  for (const { type, status: is } of conditions) {
    if (type === 'Reconciling' && is === 'True') return 'InProgress';
    if (type === 'Stalled' && is === 'True') return 'Failed';
  }
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready === undefined || ready.status === 'True' ? 'Current' : 'InProgress';
}

const written = (before: VolumeStatus, ...[phase, ready]: [VolumeStatus['phase'], Ready]) => {
  const action = setStatus(volume(before), NOW, phase, ready);
  return action?.do === 'set-status' ? action.status : before;
};
const failed = { status: 'False', reason: 'CreationError', message: 'the disk is used' } as const;
const away = { status: 'False', reason: 'UnavailableError', message: 'the file is gone' } as const;
const pending = { status: 'Unknown', reason: 'Pending', message: '' } as const;
const ready = { status: 'True', reason: 'Available', message: '' } as const;

test.each<[string, VolumeStatus['phase'], Ready, string]>([
  ['is Available', 'Available', ready, 'Current'],
  ['is provisioned', 'Pending', pending, 'InProgress'],
  ['failed permanently', 'Failed', failed, 'Failed'],
  ['may recover by itself', 'Failed', away, 'InProgress'],
  [
    'is verified after a failure',
    'Failed',
    { ...pending, reason: 'NodeUnreachable' },
    'InProgress',
  ],
])('kstatus understands a Volume that %s', (_, phase, condition, expected) => {
  expect(kstatus(volume(written({}, phase, condition)))).toBe(expected);
});

test('the condition Stalled has the reason and message of Ready, and is written once', () => {
  const status = written({}, 'Failed', failed);
  const reported = status.conditions?.find(({ type }) => type === 'Ready');
  expect(status.conditions?.filter(({ type }) => type === 'Stalled')).toEqual([
    { ...reported, type: 'Stalled', status: 'True' },
  ]);
  expect(setStatus(volume(status), NOW + 1000, 'Failed', failed)).toBeUndefined();
  // Another failure updates the condition, which has been True since.
  const other = written(status, 'Failed', { ...failed, message: 'the disk is busy' });
  expect(other.conditions?.find(({ type }) => type === 'Stalled')).toMatchObject({
    message: 'the disk is busy',
    ...{ lastTransitionTime: reported?.lastTransitionTime },
  });
});

test.each<[string, VolumeStatus['phase'], Ready]>([
  ['it is provisioned again', 'Pending', pending],
  ['it is Available', 'Available', ready],
  ['its device is missing', 'Failed', away],
  ['its deletion failed, which is retried', 'Failed', { ...failed, reason: 'DestructionError' }],
])('the condition Stalled is removed once %s', (_, phase, condition) => {
  const status = written(written({}, 'Failed', failed), phase, condition);
  expect(status.conditions?.map(({ type }) => type)).toEqual(['Ready']);
});

test('conditions of others stay', () => {
  const theirs: Condition = { type: 'Theirs', status: 'True', reason: 'Theirs' };
  const before = { ...available(), conditions: [...(available().conditions ?? []), theirs] };
  const status = written(before, 'Failed', failed);
  expect(status.conditions?.map(({ type }) => type)).toEqual(['Ready', 'Theirs', 'Stalled']);
  expect(written(status, 'Available', ready).conditions).toContainEqual(theirs);
});

test('a Volume that an earlier daemon left as failed gets the condition Stalled once', () => {
  const status = written({}, 'Failed', failed);
  const conditions = status.conditions?.filter(({ type }) => type !== 'Stalled') ?? [];
  const old = { ...status, conditions };
  expect(kstatus(volume(old))).toBe('InProgress');
  const { action } = decide(input({ volume: volume(old) }), NOW + 1000);
  expect(action).toEqual({ do: 'set-status', status });
  expect(decide(input({ volume: volume(status) }), NOW + 1000)).toEqual({});
});

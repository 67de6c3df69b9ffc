import { describe, expect, test } from '@jest/globals';
import type { Attachment } from '../../../src/api/volume.ts';
import { setStatus, statusPatch } from '../../../src/controllers/volume/status.ts';
import { at, available } from '../../support/decisions.ts';
import { NOW, volume } from '../../support/volume-input.ts';

const attachments: Attachment[] = [
  { node: 'n1', state: 'Attached', safeToMount: true, safeToDetach: false, pods: [], since: at },
];
const ready = { status: 'True', reason: 'Available', message: '' } as const;

describe('status.attachments', () => {
  test('is neither compared nor written by a status update', () => {
    const attached = volume({ ...available(), attachments });
    expect(setStatus(attached, NOW, 'Available', ready)).toBeUndefined();
    const action = setStatus(attached, NOW, 'Failed', ready);
    expect(action?.do === 'set-status' && action.status).toEqual({
      ...available(),
      phase: 'Failed',
    });
  });

  test('is neither in the patch nor cleared by it', () => {
    expect(statusPatch({ phase: 'Available', attachments }, { phase: 'Failed' })).toEqual({
      phase: 'Failed',
    });
    expect(statusPatch(undefined, { phase: 'Failed', attachments })).toEqual({ phase: 'Failed' });
  });
});

test('a removed field is absent from the status and null in the patch', () => {
  const before = volume(available());
  const action = setStatus(before, NOW, 'Available', ready, { deviceName: undefined });
  const { deviceName: _, ...without } = available();
  const status = action?.do === 'set-status' ? action.status : {};
  expect(status).toEqual(without);
  expect(Object.keys(status)).not.toContain('deviceName');
  expect(statusPatch(before.status, status)).toEqual({ ...without, deviceName: null });
  // Another write is not needed.
  expect(
    setStatus(volume(without), NOW, 'Available', ready, { deviceName: undefined }),
  ).toBeUndefined();
});

describe('the event of a change of phase', () => {
  const pending = { status: 'Unknown', reason: 'Pending', message: '' } as const;
  const failed = { status: 'False', reason: 'CreationError', message: 'mkfs.xfs failed' } as const;
  test.each([
    ['the first phase', {}, 'Pending', pending, 'Volume data1 is Pending'],
    ['the first phase, and why', {}, 'Failed', failed, 'Volume data1 is Failed: mkfs.xfs failed'],
    [
      'another phase',
      { ...available(), phase: 'Pending' },
      'Available',
      ready,
      'Volume data1 changed from Pending to Available',
    ],
    [
      'another phase, and why',
      available(),
      'Failed',
      failed,
      'Volume data1 changed from Available to Failed: mkfs.xfs failed',
    ],
    [
      'a reason that is not the phase',
      available(),
      'Pending',
      { ...pending, reason: 'Attaching' },
      'Volume data1 changed from Available to Pending: Attaching',
    ],
    ['a new problem in the same phase', available(), 'Available', failed, 'mkfs.xfs failed'],
  ] as const)('%s', (_, before, phase, condition, message) => {
    const action = setStatus(volume(before), NOW, phase, condition);
    expect(action).toMatchObject({ event: { reason: 'StateTransition', message } });
  });
});

test('the message for a claim is in condition Provisioned as long as it applies', () => {
  const failed = { status: 'False', reason: 'CreationError', message: 'the whole' } as const;
  const told = setStatus(volume(available()), NOW, 'Failed', {
    ...failed,
    publicMessage: 'a part',
  });
  const status = told?.do === 'set-status' ? told.status : {};
  expect(status.conditions).toMatchObject([
    { type: 'Ready', ...failed },
    { type: 'Provisioned', ...failed, message: 'a part' },
    { type: 'Stalled', ...failed, status: 'True' },
  ]);
  expect(status.conditions?.[0]).not.toHaveProperty('told');
  // Another write is not needed.
  expect(
    setStatus(volume(status), NOW + 1, 'Failed', { ...failed, publicMessage: 'a part' }),
  ).toBeUndefined();
  const over = setStatus(volume(status), NOW, 'Available', ready);
  expect(over?.do === 'set-status' && over.status.conditions).toMatchObject([
    { type: 'Ready', ...ready },
  ]);
  expect(over?.do === 'set-status' && over.status.conditions).toHaveLength(1);
});

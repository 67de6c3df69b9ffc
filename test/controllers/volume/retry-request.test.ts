import { describe, expect, test } from '@jest/globals';
import { RETRY_ANNOTATION } from '../../../src/api/names.ts';
import { decide } from '../../../src/controllers/volume/decide.ts';
import { needsReconcile } from '../../../src/manager/predicates.ts';
import { at, given, outcome, status } from '../../support/decisions.ts';
import { freshNode, input, NOW, volume } from '../../support/volume-input.ts';

const MINUTE = 60_000;
const failed = status('Failed', 'PrepareVolume/1', ['False', 'CreationError', 'why']);
const requested = (token: string) => ({ annotations: { [RETRY_ANNOTATION]: token } });

describe('a Volume that failed permanently', () => {
  test.each([
    ['stays Failed without a request', {}, {}],
    ['stays Failed with an earlier request', requested('2026-01-01T00:00:00.000Z'), {}],
    [
      'begins again with a request for this failure',
      requested(at),
      ['Pending', 'PrepareVolume/2', 'Unknown', 'Pending', 'a user requested a retry'],
    ],
  ])('%s', (_, metadata, expected) => {
    expect(outcome(given(failed, { metadata }), NOW + MINUTE)).toEqual(expected);
  });

  test('is retried at once after any number of attempts', () => {
    const eighth = status('Failed', 'PrepareVolume/8', ['False', 'CreationError', 'why']);
    const { volume: before } = given(eighth, { metadata: requested(at) });
    const begun = decide(input({ volume: before }), NOW + MINUTE);
    if (begun.action?.do !== 'set-status') throw new Error('no attempt is recorded');
    expect(begun.action.status).toMatchObject({
      job: 'PrepareVolume/9',
      conditions: [{ detail: { code: 'RetryRequested' } }],
    });
    const next = given(begun.action.status, { job: 'not-found', node: freshNode });
    expect(outcome(next, NOW + MINUTE + 1)).toEqual(['submit', expect.any(Number), 0]);
    // A changed spec waits for its turn.
    const waits = status('Pending', 'PrepareVolume/9', ['Unknown', 'Pending', '']);
    const later = given(waits, { job: 'not-found', node: freshNode });
    expect(outcome(later, NOW + 1)).toEqual({ requeueAfter: expect.any(Number) });
  });

  test('fulfills the request if it fails again in the same way', () => {
    const parts = given(undefined, { metadata: requested(at) });
    const missing = { ...parts, storageClass: undefined, liveClass: { found: undefined } };
    const first = decide(input(missing), NOW);
    if (first.action?.do !== 'set-status') throw new Error('no status is written');
    expect(first.action.status.phase).toBe('Failed');
    const again = { ...missing, volume: { ...parts.volume, status: first.action.status } };
    // The condition has the time of the token, so that the same message is written once more.
    const second = decide(input(again), NOW + MINUTE);
    if (second.action?.do !== 'set-status') throw new Error('the request has no effect');
    const last = { ...missing, volume: { ...parts.volume, status: second.action.status } };
    expect(decide(input(last), NOW + 2 * MINUTE)).toEqual({});
  });
});

test('a requested retry submits a delayed attempt at once', () => {
  const waiting = status('Pending', 'PrepareVolume/8', ['Unknown', 'Pending', 'attempt 7 failed']);
  const parts = (metadata: object) =>
    given(waiting, { metadata, job: 'not-found', node: freshNode });
  expect(outcome(parts({}), NOW + 1)).toEqual({ requeueAfter: expect.any(Number) });
  expect(outcome(parts(requested(at)), NOW + 1)).toEqual(['submit', expect.any(Number), 0]);
});

test('a new retry request triggers a reconcile', () => {
  expect(needsReconcile(volume(failed), volume(failed, requested(at)))).toBe(true);
  expect(needsReconcile(volume(failed, requested(at)), volume(failed, requested(at)))).toBe(false);
});

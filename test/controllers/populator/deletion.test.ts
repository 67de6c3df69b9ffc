import { describe, expect, test } from '@jest/globals';
import { decide } from '../../../src/controllers/populator/decide.ts';
import type { PopulatorInput } from '../../../src/controllers/populator/types.ts';
import { bound, DELETED, decided, populated } from './decisions.ts';
import { claim, found, given, input, NOW, pod, prime, pv } from './input.ts';

describe('the cleanup after a claim is deleted', () => {
  const gone = { definitions: [], storageClass: undefined, source: undefined };
  const deleted = claim(DELETED);

  test.each<[string, Partial<PopulatorInput>, string]>([
    ['the pod first', { prime: prime(), pv: pv(), pod: pod('Running') }, 'delete-pod'],
    ['the pod terminates', { prime: prime(), pv: pv(), pod: pod('Running', DELETED) }, 'rest'],
    ['then the prime claim', { prime: prime(), pv: pv() }, 'delete-prime'],
    ['the terminating prime claim is awaited', { prime: prime(DELETED), pv: pv() }, 'rest'],
    [
      'with its volume, even with policy Retain',
      { prime: prime(), pv: pv({ spec: { persistentVolumeReclaimPolicy: 'Retain' } }) },
      'release-pv',
    ],
    [
      'with a volume already rebound, but never observed as bound',
      { prime: prime(), pv: given('Retain') },
      'release-pv',
    ],
    ['the finalizer last', {}, 'remove-finalizer'],
    [
      'nothing after the finalizer',
      { claim: claim({ metadata: { ...DELETED.metadata, finalizers: [] } }) },
      'rest',
    ],
  ])('proceeds in order: %s', (_, change, action) => {
    expect(decided({ claim: deleted, ...gone, ...change })).toBe(action);
  });

  test('keeps a volume to which the claim was bound', () => {
    const was = bound({ metadata: { deletionTimestamp: 'x' } });
    expect(
      decided({
        claim: was,
        ...gone,
        prime: prime({ status: { phase: 'Lost' } }),
        pv: given('Retain'),
      }),
    ).toBe('delete-prime');
  });

  test('emits no event of success', () => {
    expect(decide(input({ claim: deleted, ...gone }), NOW).action).toEqual({
      do: 'remove-finalizer',
    });
  });

  test.each<[string, Partial<PopulatorInput>, string]>([
    ['is read before anything is deleted', {}, 'read-claim'],
    ['exists in the API server', { liveClaim: { found: claim() } }, 'rest 1000'],
    ['is gone', { liveClaim: { found: undefined } }, 'delete-prime'],
    [
      'was recreated',
      { liveClaim: { found: claim({ metadata: { uid: 'other' } }) } },
      'delete-prime',
    ],
  ])('verifies a claim that the cache lacks: it %s', (_, change, action) => {
    expect(decided({ claim: undefined, ...gone, prime: prime(), pv: pv(), ...change })).toBe(
      action,
    );
  });
});

describe('an interrupted or changed population', () => {
  test.each<[string, Partial<PopulatorInput>, string]>([
    [
      'a claim bound to another volume loses its prime claim',
      { claim: bound({ spec: { volumeName: 'other' } }), prime: prime(), pv: pv() },
      'delete-prime',
    ],
    [
      'a bound claim starts no population',
      { claim: bound({ metadata: { finalizers: [] } }) },
      'rest',
    ],
    [
      'a prime claim that lost its volume is recreated',
      { prime: prime({ status: { phase: 'Lost' } }) },
      'delete-prime',
    ],
    [
      'a Lost prime claim with a volume in the cache is kept',
      { prime: prime({ status: { phase: 'Lost' } }), pv: pv() },
      'rest 1000',
    ],
    [
      'a terminating prime claim ends its pod',
      { prime: prime(DELETED), pv: pv(), pod: pod('Running') },
      'delete-pod',
    ],
    ['a terminating prime claim is awaited', { prime: prime(DELETED), pv: pv() }, 'rest'],
    ['a pod without a prime claim is deleted', { pod: pod('Pending') }, 'delete-pod'],
    [
      'a populated claim is rebound without its definition',
      { definitions: [], storageClass: undefined, prime: populated, pv: pv() },
      'rebind',
    ],
    [
      'a completed pod is recorded without its definition',
      { definitions: [], prime: prime(), pv: pv(), pod: pod('Succeeded') },
      'mark-populated',
    ],
    [
      'a missing finalizer is added again before the rebind',
      { claim: claim({ metadata: { finalizers: [] } }), prime: populated, pv: pv() },
      'add-finalizer',
    ],
    [
      'a volume of another claim is not rebound',
      { prime: populated, pv: pv({ spec: { claimRef: { uid: 'other' } } }) },
      'rest',
    ],
    [
      'the population continues without the class',
      { storageClass: undefined, prime: prime(), pv: pv(), source: found },
      'create-pod',
    ],
  ])('%s', (_, change, action) => {
    expect(decided(change)).toBe(action);
  });
});

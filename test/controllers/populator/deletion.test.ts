import { describe, expect, test } from '@jest/globals';
import { decide } from '../../../src/controllers/populator/decide.ts';
import type { MachineInput } from '../../../src/controllers/populator/types.ts';
import { bound, DELETED, decided, populated } from './decisions.ts';
import { claim, found, given, input, NOW, pod, prime, pv } from './input.ts';

describe('the cleanup after a claim is deleted', () => {
  const gone = { definitions: [], storageClass: undefined, source: undefined };
  const deleted = claim(DELETED);

  test.each<[string, Partial<MachineInput>, string]>([
    ['the pod first', { prime: prime(), pv: pv(), pod: pod('Running') }, 'delete-pod'],
    ['which has time to end', { prime: prime(), pv: pv(), pod: pod('Running', DELETED) }, 'rest'],
    ['then the prime claim', { prime: prime(), pv: pv() }, 'delete-prime'],
    ['which is held by nothing of ours', { prime: prime(DELETED), pv: pv() }, 'rest'],
    [
      'with its volume, whatever the class says',
      { prime: prime(), pv: pv({ spec: { persistentVolumeReclaimPolicy: 'Retain' } }) },
      'release-pv',
    ],
    [
      'also one that was given to it and never seen',
      { prime: prime(), pv: given('Retain') },
      'release-pv',
    ],
    ['the finalizer last', {}, 'remove-finalizer'],
    [
      'and no more',
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

  test.each<[string, Partial<MachineInput>, string]>([
    ['is asked for before anything goes', {}, 'read-claim'],
    ['is there after all', { liveClaim: { found: claim() } }, 'rest 1000'],
    ['is gone', { liveClaim: { found: undefined } }, 'delete-prime'],
    [
      'is another one',
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
  test.each<[string, Partial<MachineInput>, string]>([
    [
      'a claim that was bound to another volume is left alone',
      { claim: bound({ spec: { volumeName: 'other' } }), prime: prime(), pv: pv() },
      'delete-prime',
    ],
    [
      'nothing is begun for one that is bound',
      { claim: bound({ metadata: { finalizers: [] } }) },
      'rest',
    ],
    [
      'a prime claim that lost its volume is made anew',
      { prime: prime({ status: { phase: 'Lost' } }) },
      'delete-prime',
    ],
    [
      'but not by a cache that is behind',
      { prime: prime({ status: { phase: 'Lost' } }), pv: pv() },
      'rest 1000',
    ],
    [
      'one that is being deleted ends its pod',
      { prime: prime(DELETED), pv: pv(), pod: pod('Running') },
      'delete-pod',
    ],
    ['and is waited for', { prime: prime(DELETED), pv: pv() }, 'rest'],
    ['a pod without a prime claim goes', { pod: pod('Pending') }, 'delete-pod'],
    [
      'a claim that is filled becomes the user’s without its definition',
      { definitions: [], storageClass: undefined, prime: populated, pv: pv() },
      'rebind',
    ],
    [
      'so does one whose pod has just ended',
      { definitions: [], prime: prime(), pv: pv(), pod: pod('Succeeded') },
      'mark-populated',
    ],
    [
      'a finalizer that somebody took off is put back before',
      { claim: claim({ metadata: { finalizers: [] } }), prime: populated, pv: pv() },
      'add-finalizer',
    ],
    [
      'a volume of somebody else is not given away',
      { prime: populated, pv: pv({ spec: { claimRef: { uid: 'other' } } }) },
      'rest',
    ],
    [
      'a claim of a class that is gone goes on',
      { storageClass: undefined, prime: prime(), pv: pv(), source: found },
      'create-pod',
    ],
  ])('%s', (_, change, action) => {
    expect(decided(change)).toBe(action);
  });
});

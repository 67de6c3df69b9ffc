import { expect, test } from '@jest/globals';
import { type ClaimUses, protectionOf } from '../../../src/controllers/snapshot/decide-claim.ts';
import {
  claim,
  DELETED,
  OF_CLAIM,
  restore,
  snapshot,
  volume,
} from '../../support/snapshot-objects.ts';

const done = snapshot({ status: { readyToUse: true } });
const waits = snapshot({ metadata: { finalizers: [] } });
const uses = { snapshots: [], clones: [], isLost: () => false } as const;

test.each<[string, Partial<ClaimUses>, 'take-off' | undefined]>([
  ['nobody uses', {}, 'take-off'],
  ['a snapshot is taken of', { snapshots: [done, snapshot()] }, undefined],
  ['snapshots were taken of', { snapshots: [done] }, 'take-off'],
  [
    'a snapshot was to be taken of, and is being deleted',
    { snapshots: [snapshot({ metadata: { deletionTimestamp: DELETED } })] },
    'take-off',
  ],
  ['a snapshot waits of that has protected nothing', { snapshots: [waits] }, 'take-off'],
  [
    'a snapshot of that has lost its content',
    { snapshots: [snapshot()], isLost: () => true },
    'take-off',
  ],
  [
    'a snapshot of another one is taken beside',
    { snapshots: [snapshot({ source: { persistentVolumeClaimName: 'other' } })] },
    'take-off',
  ],
  ['is being cloned', { clones: [volume(), restore()] }, undefined],
  ['was cloned', { clones: [volume()] }, 'take-off'],
  [
    'is being deleted, and cloned',
    { claim: held({ deletionTimestamp: DELETED }), clones: [restore()] },
    undefined,
  ],
])('a finalizer stays only while it is needed: a claim that %s', (_, fields, expected) => {
  expect(protectionOf({ claim: held(), ...uses, ...fields })).toBe(expected);
});

function held(metadata = {}) {
  return claim({ finalizers: ['x', OF_CLAIM], ...metadata });
}

test.each<[string, Partial<ClaimUses>, 'put-on' | undefined]>([
  ['nobody uses', {}, undefined],
  ['is being cloned', { clones: [restore()] }, 'put-on'],
  ['was cloned', { clones: [volume()] }, undefined],
  // The snapshot puts on the finalizer itself, before its creation begins.
  ['a snapshot is to be taken of', { snapshots: [snapshot()] }, undefined],
  [
    'is being deleted, so that nobody can hold it any more',
    { claim: claim({ deletionTimestamp: DELETED }), clones: [restore()] },
    undefined,
  ],
])('a finalizer is added only for clones: a claim that %s', (_, fields, expected) => {
  const free = claim({ finalizers: ['kubernetes.io/pvc-protection'] });
  expect(protectionOf({ claim: free, ...uses, ...fields })).toBe(expected);
});

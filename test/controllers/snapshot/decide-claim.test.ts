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
  ['is unused', {}, 'take-off'],
  ['is being snapshotted', { snapshots: [done, snapshot()] }, undefined],
  ['was snapshotted', { snapshots: [done] }, 'take-off'],
  [
    'has a deleted snapshot that was not taken',
    { snapshots: [snapshot({ metadata: { deletionTimestamp: DELETED } })] },
    'take-off',
  ],
  ['has a waiting snapshot that protects nothing yet', { snapshots: [waits] }, 'take-off'],
  [
    'has a snapshot whose content is lost',
    { snapshots: [snapshot()], isLost: () => true },
    'take-off',
  ],
  [
    'is not the source of a new snapshot',
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
  ['is unused', {}, undefined],
  ['is being cloned', { clones: [restore()] }, 'put-on'],
  ['was cloned', { clones: [volume()] }, undefined],
  // The snapshot puts on the finalizer itself, before its creation begins.
  ['is to be snapshotted', { snapshots: [snapshot()] }, undefined],
  [
    'is being deleted',
    { claim: claim({ deletionTimestamp: DELETED }), clones: [restore()] },
    undefined,
  ],
])('a finalizer is added only for clones: a claim that %s', (_, fields, expected) => {
  const free = claim({ finalizers: ['kubernetes.io/pvc-protection'] });
  expect(protectionOf({ claim: free, ...uses, ...fields })).toBe(expected);
});

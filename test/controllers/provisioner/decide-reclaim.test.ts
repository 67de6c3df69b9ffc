import { expect, test } from '@jest/globals';
import type { PersistentVolume } from '../../../src/api/core.ts';
import type { VolumeStatus } from '../../../src/api/volume.ts';
import { decideReclaim } from '../../../src/controllers/provisioner/decide-reclaim.ts';
import type { ReclaimInput } from '../../../src/controllers/provisioner/types.ts';
import { claim, volume } from './claim-input.ts';

const VOLUME_UID = 'u-volume';
const pv = (phase: string, policy = 'Delete', owner = VOLUME_UID) =>
  ({
    metadata: { name: 'x', ownerReferences: [{ uid: owner }] },
    spec: { persistentVolumeReclaimPolicy: policy },
    status: { phase },
  }) as PersistentVolume;
const owned = volume({ metadata: { name: 'x', uid: VOLUME_UID } });
const prepared: VolumeStatus = { prepared: { node: 'n1', paths: ['/f'], identity: '1:2' } };
const gone = { found: undefined };

test.each<[string, Partial<ReclaimInput>, string | undefined]>([
  [
    'whose claim is there stays',
    { claim: claim(), pv: pv('Released'), liveClaim: gone },
    undefined,
  ],
  ['whose claim is gone: the claim is read', { pv: pv('Released') }, 'read-live'],
  [
    'stays where the PersistentVolume of its name is another one`s',
    { pv: pv('Released', 'Delete', 'u2'), liveClaim: gone },
    undefined,
  ],
  [
    'whose claim the cache had lost stays',
    { pv: pv('Released'), liveClaim: { found: claim() } },
    undefined,
  ],
  ['that was let go of is deleted', { pv: pv('Released'), liveClaim: gone }, 'delete-volume'],
  [
    'that is let go of, and that another one is being made from, stays',
    { pv: pv('Released'), liveClaim: gone, clones: [volume()] },
    undefined,
  ],
  ['that is to be kept stays', { pv: pv('Released', 'Retain'), liveClaim: gone }, undefined],
  ['that is still bound stays', { pv: pv('Bound'), liveClaim: gone }, undefined],
  ['that waits for its claim stays', { pv: pv('Available'), liveClaim: gone }, undefined],
  ['that was never made is deleted', { liveClaim: gone }, 'delete-volume'],
  [
    'that is being made is deleted',
    { volume: volume({ status: { phase: 'Pending' } }), liveClaim: gone },
    'delete-volume',
  ],
  [
    'that could not be made is deleted',
    { volume: volume({ status: { phase: 'Failed' } }), liveClaim: gone },
    'delete-volume',
  ],
  [
    'that was used, and whose PersistentVolume somebody took away, stays',
    { volume: volume({ status: { phase: 'Available', ...prepared } }), liveClaim: gone },
    undefined,
  ],
  [
    'that failed after it was used stays',
    { volume: volume({ status: { phase: 'Failed', ...prepared } }), liveClaim: gone },
    undefined,
  ],
  [
    'that is being deleted already',
    { volume: volume({ metadata: { name: 'x', deletionTimestamp: 'x' } }), liveClaim: gone },
    undefined,
  ],
])('a Volume of a claim %s', (_, parts, expected) => {
  const none = { pv: undefined, claim: undefined, liveClaim: undefined, clones: [] };
  const input = { volume: owned, ...none, ...parts };
  expect(decideReclaim(input).action?.do).toBe(expected);
});

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
    'stays while the claim exists',
    { claim: claim(), pv: pv('Released'), liveClaim: gone },
    undefined,
  ],
  ['waits for a read of the claim that the cache lacks', { pv: pv('Released') }, 'read-live'],
  [
    'stays if its PersistentVolume has another owner',
    { pv: pv('Released', 'Delete', 'u2'), liveClaim: gone },
    undefined,
  ],
  [
    'stays if the API server still has the claim',
    { pv: pv('Released'), liveClaim: { found: claim() } },
    undefined,
  ],
  ['is deleted once Released', { pv: pv('Released'), liveClaim: gone }, 'delete-volume'],
  [
    'stays while another Volume is created from it',
    { pv: pv('Released'), liveClaim: gone, clones: [volume()] },
    undefined,
  ],
  ['stays with the policy Retain', { pv: pv('Released', 'Retain'), liveClaim: gone }, undefined],
  ['stays while Bound', { pv: pv('Bound'), liveClaim: gone }, undefined],
  ['stays while Available', { pv: pv('Available'), liveClaim: gone }, undefined],
  ['is deleted if it was never provisioned', { liveClaim: gone }, 'delete-volume'],
  [
    'is deleted while it is provisioned',
    { volume: volume({ status: { phase: 'Pending' } }), liveClaim: gone },
    'delete-volume',
  ],
  [
    'is deleted if provisioning failed',
    { volume: volume({ status: { phase: 'Failed' } }), liveClaim: gone },
    'delete-volume',
  ],
  [
    'stays if it was used and its PersistentVolume is gone',
    { volume: volume({ status: { phase: 'Available', ...prepared } }), liveClaim: gone },
    undefined,
  ],
  [
    'stays if it failed after use',
    { volume: volume({ status: { phase: 'Failed', ...prepared } }), liveClaim: gone },
    undefined,
  ],
  [
    'is not deleted twice',
    { volume: volume({ metadata: { name: 'x', deletionTimestamp: 'x' } }), liveClaim: gone },
    undefined,
  ],
])('a Volume of a claim %s', (_, parts, expected) => {
  const none = { pv: undefined, claim: undefined, liveClaim: undefined, clones: [] };
  const input = { volume: owned, ...none, ...parts };
  expect(decideReclaim(input).action?.do).toBe(expected);
});

import { expect, test } from '@jest/globals';
import { type ClaimUses, isDoneAsSource } from '../../../src/provisioning/snapshots/decide-claim.ts';
import { claim, DELETED, OF_CLAIM, restore, snapshot, volume } from '../../support/snapshot-objects.ts';

const source = { kind: 'PersistentVolumeClaim', name: 'data' };
const pending = (spec: object) => ({
  ...claim({ name: 'clone' }, spec),
  status: { phase: 'Pending' as const },
});
const done = snapshot({ status: { readyToUse: true } });

test.each<[string, Partial<ClaimUses>, boolean]>([
  ['nobody uses', {}, true],
  ['is not held by us', { claim: claim({ finalizers: ['kubernetes.io/pvc-protection'] }) }, false],
  ['a snapshot is taken of', { snapshots: [done, snapshot()] }, false],
  ['snapshots were taken of', { snapshots: [done] }, true],
  [
    'a snapshot was to be taken of, and is being deleted',
    { snapshots: [snapshot({ metadata: { deletionTimestamp: DELETED } })] },
    true,
  ],
  [
    'a snapshot waits of that has protected nothing',
    { snapshots: [snapshot({ metadata: { finalizers: [] } })] },
    true,
  ],
  ['a snapshot of that has lost its content', { snapshots: [snapshot()], isLost: () => true }, true],
  [
    'a snapshot of another one is taken beside',
    { snapshots: [snapshot({ source: { persistentVolumeClaimName: 'other' } })] },
    true,
  ],
  ['is being cloned', { clones: [restore()] }, false],
  ['was cloned', { clones: [volume()] }, true],
  ['is to be cloned', { claims: [pending({ dataSource: source })] }, false],
  [
    'is to be cloned by reference',
    { claims: [pending({ dataSourceRef: { ...source, apiGroup: '' } })] },
    false,
  ],
  ['was cloned into another one', { claims: [claim({ name: 'clone' }, { dataSource: source })] }, true],
  [
    'has the name of something else that is a source',
    { claims: [pending({ dataSource: { ...source, apiGroup: 'x.io' } })] },
    true,
  ],
])('a claim that %s', (_, fields, expected) => {
  const uses = { snapshots: [], claims: [], clones: [], isLost: () => false };
  expect(isDoneAsSource({ claim: claim({ finalizers: ['x', OF_CLAIM] }), ...uses, ...fields })).toBe(
    expected,
  );
});

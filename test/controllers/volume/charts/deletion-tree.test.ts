import { describe, expect, test } from '@jest/globals';
import { deletable } from '../../../../src/controllers/volume/deletable.ts';
import { pvOf, ready, volumeNamed } from '../../../support/volumes.ts';

const refused = (why: string, hint: string) => ({
  can: false,
  why: expect.stringContaining(why),
  hint: expect.stringContaining(hint),
});
const available = volumeNamed('data1', { phase: 'Available' });
const failed = volumeNamed('data1', { phase: 'Failed' });
const deleting = {
  ...available,
  metadata: { ...available.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' },
};

describe('the Volume deletion decision tree', () => {
  test.each([
    [
      'DeletionTree: Unknown → CANNOT DELETE',
      volumeNamed('data1'),
      refused('not known yet', 'stowage watch'),
    ],
    [
      'DeletionTree: Pending → CANNOT DELETE',
      volumeNamed('data1', { phase: 'Pending' }),
      refused('being provisioned', 'get volume data1'),
    ],
    [
      'DeletionTree: Pending on a node that is not reached → CANNOT DELETE',
      volumeNamed('data1', { phase: 'Pending', ...ready('Unknown', 'NodeUnreachable', 'x') }),
      refused('being provisioned: x', 'how to proceed: stowage why volume data1'),
    ],
    [
      'DeletionTree: Terminating → CANNOT DELETE',
      volumeNamed('data1', { phase: 'Terminating' }),
      refused('already being deleted', 'data1'),
    ],
    [
      'DeletionTree: marked for deletion, which is Terminating → CANNOT DELETE',
      deleting,
      refused('already being deleted', 'data1'),
    ],
    ['DeletionTree: Failed, has PersistentVolume? NO → CAN DELETE', failed, { can: true }],
    ['DeletionTree: Available, has PersistentVolume? NO → CAN DELETE', available, { can: true }],
  ])('%s', (_, volume, expected) => {
    expect(deletable(volume, undefined)).toEqual(expected);
  });

  test.each([
    ['Pending → CANNOT DELETE', 'Pending', refused('PersistentVolume is Pending', 'Retry')],
    ['without a phase → CANNOT DELETE', undefined, refused('PersistentVolume is Pending', 'Retry')],
    ['Available → CAN DELETE', 'Available', { can: true }],
    [
      'Bound → CANNOT DELETE',
      'Bound',
      refused('bound to the claim db/data-0', 'kubectl delete pvc data-0 -n db'),
    ],
    ['Released → CAN DELETE', 'Released', { can: true }],
    ['Failed → CAN DELETE', 'Failed', { can: true }],
  ] as const)(
    'DeletionTree: Failed/Available, has PersistentVolume? YES, %s',
    (_, phase, expected) => {
      expect(deletable(available, pvOf(available, phase))).toEqual(expected);
      expect(deletable(failed, pvOf(failed, phase))).toEqual(expected);
    },
  );

  test.each([
    ['Unknown', undefined, 'not known yet'],
    ['Pending', 'Pending', 'being provisioned'],
  ] as const)(
    'DeletionTree: %s, whatever its PersistentVolume → CANNOT DELETE',
    (_, phase, why) => {
      const volume = volumeNamed('data1', phase && { phase });
      expect(deletable(volume, pvOf(volume, 'Available'))).toEqual(refused(why, ''));
    },
  );
});

test('a PersistentVolume of the same name with another owner is ignored', () => {
  expect(deletable(available, pvOf(volumeNamed('other'), 'Bound'))).toEqual({ can: true });
});

test('a Volume that MetalK8s wrote is judged by its condition, without a phase', () => {
  expect(deletable(volumeNamed('data1', ready('True', '')), undefined)).toEqual({ can: true });
  expect(deletable(volumeNamed('data1', ready('Unknown', 'Pending')), undefined)).toMatchObject({
    can: false,
  });
});

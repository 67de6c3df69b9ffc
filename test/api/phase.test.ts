import { expect, test } from '@jest/globals';
import { phaseOf } from '../../src/api/phase.ts';
import { ready, volumeNamed } from '../support/volumes.ts';

test.each([
  [undefined, undefined],
  [{}, undefined],
  [{ conditions: [] }, undefined],
  [ready('True', 'Available'), 'Available'],
  [ready('False', 'CreationError'), 'Failed'],
  [ready('Unknown', 'Pending'), 'Pending'],
  [ready('Unknown', 'Terminating'), 'Terminating'],
  [ready('Unknown', 'NodeUnreachable'), undefined],
  // The node is unreachable: the phase is unchanged.
  [{ ...ready('Unknown', 'NodeUnreachable'), phase: 'Available' as const }, 'Available'],
])('a Volume with status %j has phase %p', (status, phase) => {
  expect(phaseOf(volumeNamed('data1', status))).toBe(phase);
});

import { expect, test } from '@jest/globals';
import {
  modeOf,
  type SeenDeployment,
  type SeenLease,
  type SnapshotController,
} from '../../../src/controllers/snapshot/controller-mode.ts';
import { NOW } from '../../support/volume-input.ts';

const lease = (fields: Partial<SeenLease> = {}): SeenLease => ({
  holder: 'pod-1',
  seenAt: NOW - 10_000,
  durationSeconds: 15,
  ...fields,
});
const builtin = { mode: 'builtin' };
const external = (until?: number) => ({ mode: 'external', ...(until !== undefined && { until }) });

test.each<[string, SnapshotController, SeenLease[], SeenDeployment[], object]>([
  ['no Lease and no Deployment', 'auto', [], [], builtin],
  ['a Lease that is renewed', 'auto', [lease()], [], external(NOW + 35_000)],
  ['a Lease that was released', 'auto', [lease({ holder: '' })], [], builtin],
  ['a Lease without a holder', 'auto', [lease({ holder: undefined })], [], builtin],
  ['a Lease that is late', 'auto', [lease({ seenAt: NOW - 44_999 })], [], external(NOW + 1)],
  ['a Lease that expired', 'auto', [lease({ seenAt: NOW - 45_000 })], [], builtin],
  [
    'a Lease without a duration',
    'auto',
    [lease({ durationSeconds: undefined })],
    [],
    external(NOW + 35_000),
  ],
  [
    'an old Lease and another one',
    'auto',
    [lease({ seenAt: 0 }), lease({ durationSeconds: 60 })],
    [],
    external(NOW + 170_000),
  ],
  ['a Deployment that is ready', 'auto', [], [{ readyReplicas: 1 }], external()],
  ['a Deployment that is not ready', 'auto', [], [{ readyReplicas: 0 }], builtin],
  ['a Lease and a Deployment', 'auto', [lease()], [{ readyReplicas: 2 }], external()],
  ['the flag builtin, despite both', 'builtin', [lease()], [{ readyReplicas: 2 }], builtin],
  ['the flag external, without either', 'external', [], [], external()],
])('the mode follows flag, Lease and Deployment: %s', (_, flag, leases, deployments, expected) => {
  expect(modeOf(flag, leases, deployments, NOW)).toEqual(expected);
});

import { expect, test } from '@jest/globals';
import type { PersistentVolume } from '../../../../src/api/core.ts';
import type { Volume } from '../../../../src/api/volume.ts';
import { migrationStateOf } from '../../../../src/cli/install/metalk8s/migration-state.ts';
import { pv, UID, volume } from '../../../support/volume-input.ts';

const ready = (status: 'True' | 'False' | 'Unknown', reason?: string) => ({
  conditions: [{ type: 'Ready', status, ...(reason === undefined ? {} : { reason }) }],
});
const own = pv('Bound');
const prepared = {
  node: 'n1',
  paths: [`/var/lib/metalk8s/storage/sparse/${UID}`],
  identity: 'ext4',
};
const invalid: Volume = {
  ...volume(ready('True')),
  spec: { ...volume().spec, nodeName: 'n1 $(x)' },
};
const elsewhere: PersistentVolume = { ...pv('Bound', { ownerReferences: [] }) };
elsewhere.spec = { ...elsewhere.spec, local: { path: '/dev/sdb' } };

test.each<[string, Volume, PersistentVolume | undefined, object]>([
  ['provisioned', volume(ready('True')), own, { is: 'to adopt', pv: own }],
  [
    'provisioned, with a running job for its size',
    volume({ ...ready('True'), job: 'GetDeviceInfo/2020' }),
    own,
    { is: 'to adopt' },
  ],
  [
    'provisioned, with a finished job',
    volume({ ...ready('True'), job: 'PrepareVolume/DONE' }),
    own,
    { is: 'to adopt' },
  ],
  [
    'unavailable, with its PersistentVolume',
    volume(ready('False', 'UnavailableError')),
    pv('Failed'),
    { is: 'to adopt' },
  ],
  [
    'managed by Stowage',
    volume({ ...ready('True'), prepared }),
    own,
    { is: 'left', why: "it is Stowage's" },
  ],
  ['new', volume(), undefined, { is: 'left', why: expect.stringContaining('it is new') }],
  [
    'failed',
    volume(ready('False', 'CreationError')),
    undefined,
    { is: 'left', why: expect.stringContaining('it is Failed') },
  ],
  [
    'being provisioned',
    volume({ ...ready('Unknown', 'Pending'), job: 'PrepareVolume/2020' }),
    undefined,
    { is: 'refused', why: expect.stringContaining('PrepareVolume/2020') },
  ],
  [
    'being unprepared',
    volume({ ...ready('True'), job: 'UnprepareVolume/2020' }),
    own,
    { is: 'refused' },
  ],
  [
    'being deleted',
    volume(ready('True'), { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    own,
    { is: 'refused', why: 'it is being deleted' },
  ],
  [
    'without its PersistentVolume',
    volume(ready('True')),
    undefined,
    { is: 'refused', why: 'it has no PersistentVolume' },
  ],
  [
    'beside a foreign PersistentVolume',
    volume(ready('True')),
    elsewhere,
    { is: 'refused', why: expect.stringContaining('is not its own') },
  ],
  [
    'with a PersistentVolume that is being deleted',
    volume(ready('True')),
    pv('Bound', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    { is: 'refused', why: 'its PersistentVolume is being deleted' },
  ],
  ['invalid', invalid, own, { is: 'refused' }],
  [
    'with an invalid UID',
    volume(ready('True'), { uid: '../../etc' }),
    own,
    { is: 'refused', why: expect.stringContaining('metadata.uid') },
  ],
])('migrationStateOf classifies a Volume that is %s', (_, one, itsPv, standing) => {
  expect(migrationStateOf(one, itsPv)).toMatchObject(standing);
});

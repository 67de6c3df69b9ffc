import { expect, test } from '@jest/globals';
import type { PopulatorSource, Volume, VolumeStatus } from '../../../src/api/volume.ts';
import { fillEnded } from '../../../src/controllers/volume/fill-ended.ts';
import { volume } from '../../support/volume-input.ts';

const populator: PopulatorSource = {
  builtin: 'Image',
  namespace: 'prod',
  name: 'debian',
  options: {},
};
const MADE = '2026-01-01T00:00:00Z';
const NOW = Date.parse(MADE) + 90_000;

function filled(status: VolumeStatus | undefined): Volume {
  const plain = volume(status, { creationTimestamp: MADE });
  return {
    ...plain,
    spec: { ...plain.spec, storageClassName: 'fast', source: { populator, uid: 'u' } },
  };
}
const prepared = { node: 'n1', paths: ['/x'], identity: '' };
const done: VolumeStatus = {
  phase: 'Pending',
  job: 'PrepareVolume/DONE',
  prepared,
  capacity: '1Gi',
};
const first: VolumeStatus = { phase: 'Pending', job: 'PrepareVolume/1' };
const second: VolumeStatus = { ...first, job: 'PrepareVolume/2' };
const success = {
  result: 'success',
  ms: 90_000,
  filled: { bytes: 1n << 30n, storageClass: 'fast' },
};
const error = { result: 'error', ms: 90_000 };

test.each<[string, VolumeStatus | undefined, VolumeStatus, object | undefined]>([
  ['that it is filled', first, done, success],
  ['that it is filled, where all before was lost', undefined, done, success],
  ['nothing new of what is filled', done, { ...done, phase: 'Available' }, undefined],
  ['nothing new of what is filled and fails later', done, { ...done, phase: 'Failed' }, undefined],
  ['nothing of its first try', undefined, first, undefined],
  ['nothing of how far it is', first, first, undefined],
  ['that a try failed', first, second, error],
  ['that it was given up', second, { ...second, phase: 'Failed' }, error],
  [
    'that it is given up for once',
    { ...second, phase: 'Failed' },
    { ...second, phase: 'Failed' },
    undefined,
  ],
  [
    'nothing of what is deleted',
    first,
    { ...first, phase: 'Terminating', job: 'UnprepareVolume/2' },
    undefined,
  ],
])('a status change reports %s', (_, before, after, expected) => {
  expect(fillEnded(filled(before), after, NOW)).toEqual(expected);
  // A Volume without a fill has no end of a fill.
  expect(fillEnded(volume(before), after, NOW)).toBeUndefined();
});

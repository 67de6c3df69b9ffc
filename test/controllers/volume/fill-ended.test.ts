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
  ['a completed fill', first, done, success],
  ['a completed fill after a lost status', undefined, done, success],
  ['nothing for a filled Volume', done, { ...done, phase: 'Available' }, undefined],
  ['nothing for a filled Volume that fails later', done, { ...done, phase: 'Failed' }, undefined],
  ['nothing for the first attempt', undefined, first, undefined],
  ['nothing for progress', first, first, undefined],
  ['a failed attempt', first, second, error],
  ['a permanent failure', second, { ...second, phase: 'Failed' }, error],
  [
    'a permanent failure only once',
    { ...second, phase: 'Failed' },
    { ...second, phase: 'Failed' },
    undefined,
  ],
  [
    'nothing for a deleted Volume',
    first,
    { ...first, phase: 'Terminating', job: 'UnprepareVolume/2' },
    undefined,
  ],
])('a status change reports %s', (_, before, after, expected) => {
  expect(fillEnded(filled(before), after, NOW)).toEqual(expected);
  // A Volume without a fill has no end of a fill.
  expect(fillEnded(volume(before), after, NOW)).toBeUndefined();
});

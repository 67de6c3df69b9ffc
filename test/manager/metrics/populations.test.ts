import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import type { Pod } from '../../../src/api/core.ts';
import type { PopulatorSource, Volume, VolumeStatus } from '../../../src/api/volume.ts';
import { populationMetrics } from '../../../src/manager/metrics/populations.ts';
import { pending } from '../../support/decisions.ts';
import { volume } from '../../support/volume-input.ts';

const populator: PopulatorSource = {
  builtin: 'Image',
  namespace: 'prod',
  name: 'debian',
  options: {},
};
const sized = (size: string, status?: VolumeStatus): Volume => {
  const plain = volume(status);
  const spec = { ...plain.spec, sparseLoopDevice: { size }, source: { populator, uid: 'u' } };
  return { ...plain, spec };
};
const waiting: NonNullable<VolumeStatus['conditions']>[number] = {
  ...({ type: 'Ready', status: 'Unknown', reason: 'WaitingForSource', message: '' } as const),
  ...{ lastUpdateTime: '', lastTransitionTime: '' },
};

test('the populations in flight count pods and Volumes by phase', async () => {
  const registry = new Registry();
  const metrics = populationMetrics(registry);
  const pod = { metadata: { name: 'p' }, spec: {}, status: { phase: 'Running' } } as Pod;
  metrics.addPods({ list: () => [pod] }, () => 5n);
  metrics.addVolumes({
    list: () => [
      sized('1Gi', pending('PrepareVolume/1')),
      sized('2Gi'),
      sized('4Gi', { ...pending('PrepareVolume/1'), conditions: [waiting] }),
      sized('8Gi', { phase: 'Failed', job: 'PrepareVolume/8' }),
      sized('16Gi', {
        ...pending('PrepareVolume/DONE'),
        prepared: { node: 'n', paths: [], identity: '' },
      }),
      volume(pending('PrepareVolume/1')),
    ],
  });
  const valuesOf = async (name: string) =>
    (await registry.getSingleMetric(name)?.get())?.values.map(({ labels, value }) => [
      labels.phase,
      value,
    ]);
  expect(await valuesOf('stowage_populations_in_flight')).toEqual([
    ['Pending', 2],
    ['Running', 2],
    ['Succeeded', 0],
    ['Failed', 1],
  ]);
  expect(await valuesOf('stowage_populations_in_flight_bytes')).toEqual([
    ['Pending', 6 * 2 ** 30],
    ['Running', 2 ** 30 + 5],
    ['Succeeded', 0],
    ['Failed', 8 * 2 ** 30],
  ]);
});

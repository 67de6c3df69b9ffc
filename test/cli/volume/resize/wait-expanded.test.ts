import { describe, expect, test } from '@jest/globals';
import type { Volume, VolumeStatus } from '../../../../src/api/volume.ts';
import { isExpanded } from '../../../../src/cli/volume/resize/wait-expanded.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { stowage } from '../../../support/fake-io.ts';
import { ready, volumeNamed } from '../../../support/volumes.ts';

const NAME = 'volume.storage.metalk8s.scality.com/data1';
const GIVEN = volumeNamed('data1');
const AVAILABLE = ready('True', 'Available');
const DETAIL = { code: 'CannotGrow', parameters: { bytes: '2', why: 'no room left' } } as const;
const refused = {
  conditions: [{ ...ready('True', 'Available', 'no room left').conditions?.[0], detail: DETAIL }],
} as VolumeStatus;

/** Returns a Volume of 2 GiB of the second generation. */
const volume = (status: VolumeStatus): Volume => ({
  ...GIVEN,
  metadata: { ...GIVEN.metadata, generation: 2 },
  spec: { ...GIVEN.spec, sparseLoopDevice: { size: '2Gi' } },
  status: { phase: 'Available', capacity: '1Gi', observedGeneration: 2, ...status },
});

test.each<[string, VolumeStatus, number, boolean]>([
  ['has its size', { ...AVAILABLE, capacity: '2Gi', job: 'GrowVolume/DONE' }, 0, true],
  ['has more', { ...AVAILABLE, capacity: '3Gi' }, 0, true],
  ['has its earlier size', { ...AVAILABLE, job: 'PrepareVolume/DONE' }, 0, false],
  ['is not ready', { ...ready('Unknown', 'NodeUnreachable'), capacity: '2Gi' }, 0, false],
  ['is still expanded', { ...AVAILABLE, capacity: '2Gi', job: 'GrowVolume/1' }, 0, false],
  ['failed to expand once', { ...AVAILABLE, job: 'GrowVolume/2' }, 0, false],
  ['failed before the request', { ...AVAILABLE, job: 'GrowVolume/6' }, 5, false],
  ['has a status of an earlier spec', { ...refused, observedGeneration: 1 }, 0, false],
  [
    'had its earlier size, by that status',
    { ...AVAILABLE, capacity: '2Gi', observedGeneration: 1 },
    0,
    false,
  ],
])('a Volume that %s', (_, status, before, expanded) => {
  expect(isExpanded(volume(status), before)).toBe(expanded);
});

test.each<[string, VolumeStatus, number]>([
  ['the node has no room', refused, 0],
  ['two attempts failed', { ...AVAILABLE, job: 'GrowVolume/3' }, 0],
  ['two attempts failed after earlier ones', { ...AVAILABLE, job: 'GrowVolume/7' }, 5],
  ['the Volume failed', ready('False', 'CreationError', 'gone'), 0],
])('the wait fails once %s', (_, status, before) => {
  expect(() => isExpanded(volume(status), before)).toThrow(
    expect.objectContaining({ code: 'failed' }),
  );
});

describe('--wait', () => {
  const world = (status: VolumeStatus) => ({
    objects: { 'volumes/data1': { ...GIVEN, status: AVAILABLE } },
    events: [{ type: 'MODIFIED' as const, object: volume(status) }],
  });
  const RESIZE = ['resize', 'volume', 'data1', '2Gi', '--wait'];

  test('ends once the Volume has its size', async () => {
    const done = world({ ...AVAILABLE, capacity: '2Gi' });
    const { code, out, err } = await stowage(RESIZE, done);
    expect({ code, out }).toEqual({ code: 0, out: `${NAME} resized\n` });
    expect(err).toContain(`${NAME} resize requested\n`);
  });

  test('reports a failure with its reason, and exits with 1', async () => {
    const { code, out, err } = await stowage([...RESIZE, '-o', 'json'], world(refused));
    const [error = ''] = err.split('\n').filter((line) => line.startsWith('{'));
    expect({ code, out, ...JSON.parse(error) }).toMatchObject({
      ...{ code: 'failed', out: '', detail: DETAIL, object: { kind: 'Volume', name: 'data1' } },
      message: 'Volume data1 was not expanded: no room left',
      hint: 'It stays usable, and is tried again. Find out how to fix it: stowage why volume data1',
    });
    expect((await stowage(RESIZE, world(refused))).code).toBe(1);
  });

  test('times out with exit status 6', async () => {
    const clock = new FakeClock();
    const running = stowage([...RESIZE, '--timeout', '10s'], { ...world(AVAILABLE), clock });
    await clock.advance(10_000);
    expect(await running).toMatchObject({
      code: 6,
      out: '',
      err: expect.stringContaining('Find out what holds it up: stowage why volume data1\n'),
    });
  });
});

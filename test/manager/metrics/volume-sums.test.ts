import { describe, expect, test } from '@jest/globals';
import { createVolumeSpace } from '../../../src/manager/metrics/volume-space.ts';
import { countPhases, sumDirectories, sumSizes } from '../../../src/manager/metrics/volume-sums.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { disk, rawNode } from '../../support/raw-input.ts';
import { freshNode, volume } from '../../support/volume-input.ts';

const made = (node: string, path: string, capacity: string) =>
  volume({ capacity, prepared: { node, paths: [path], identity: '' } });
const device = (node: string, capacity: string) => {
  const { sparseLoopDevice: _, ...spec } = volume().spec;
  return {
    ...made(node, '/dev/sdb', capacity),
    spec: { ...spec, rawBlockDevice: { devicePath: '/dev/sdb' } },
  };
};

const logical = (node: string, capacity: string, thinPool?: string) => {
  const { sparseLoopDevice: _, ...spec } = volume().spec;
  const lvmLogicalVolume = { vgName: 'vg0', size: capacity, ...(thinPool && { thinPool }) };
  return { ...made(node, '/dev/vg0/data1', capacity), spec: { ...spec, lvmLogicalVolume } };
};

test('countPhases counts Volumes by the phase that commands show', () => {
  const volumes = [
    volume(),
    volume({ phase: 'Available' }),
    volume({ conditions: [{ type: 'Ready', status: 'True' }] }),
    volume({ phase: 'Strange' as never }),
  ];
  expect([...countPhases(volumes)]).toEqual([
    ['Unknown', 2],
    ['Available', 2],
  ]);
});

test('sumSizes sums the capacities by node and directory', () => {
  const volumes = [
    made('n1', '/a/1', '1Gi'),
    made('n1', '/a/2', '1024'),
    made('n1', '/b/1', '1Ki'),
    made('n2', '/a/1', '2Ki'),
    device('n1', '4Ki'),
    logical('n1', '1Ki'),
    logical('n1', '1Ki'),
    logical('n1', '1Ki', 'pool'),
    made('n3', '/a/1', 'huge'),
    volume(),
  ];
  expect(sumSizes(volumes)).toEqual([
    { node: 'n1', directory: '/a', bytes: 2 ** 30 + 1024 },
    { node: 'n1', directory: '/b', bytes: 1024 },
    { node: 'n2', directory: '/a', bytes: 2048 },
    { node: 'n1', directory: '', bytes: 4096 },
    { node: 'n1', directory: '/dev/vg0', bytes: 2048 },
    { node: 'n1', directory: '/dev/vg0/pool', bytes: 1024 },
  ]);
});

describe('the space of a directory', () => {
  const named = (uid: string) => volume(undefined, { uid });
  const looked = (freeBytes: bigint | undefined, allocatedBytes: bigint, directory = '/a') => ({
    ...freshNode,
    space: { directory, freeBytes, allocatedBytes },
  });
  const sums = (...args: Parameters<ReturnType<typeof createVolumeSpace>['of']>) => {
    return sumDirectories(space.of(...args)).map(
      ({ node, directory, freeBytes, allocatedBytes }) =>
        `${node}${directory} ${freeBytes} ${allocatedBytes}`,
    );
  };
  let clock: FakeClock;
  let space: ReturnType<typeof createVolumeSpace>;
  const start = () => {
    clock = new FakeClock();
    space = createVolumeSpace(clock);
  };

  test('has the last observed free bytes, and the allocated bytes of all its Volumes', async () => {
    start();
    space.observed(named('1'), 'n1', looked(100n, 10n));
    space.observed(named('2'), 'n1', looked(100n, 5n));
    space.observed(named('3'), 'n1', looked(7n, 1n, '/b'));
    space.observed(named('4'), 'n2', rawNode(disk));
    await clock.advance(1000);
    space.observed(named('1'), 'n1', looked(80n, 30n));
    expect(sums([named('1'), named('2'), named('3'), named('4')])).toEqual([
      'n1/a 80 35',
      'n1/b 7 1',
    ]);
    // The order of Volumes may differ from that of observations.
    expect(sums([named('2'), named('1')])).toEqual(['n1/a 80 35']);
  });

  test('leaves out deleted Volumes, and discards their observations', () => {
    start();
    space.observed(named('1'), 'n1', looked(100n, 10n));
    expect(sums([named('2')])).toEqual([]);
    expect(sums([named('1')])).toEqual(['n1/a 100 10']);
    space.forget(named('1'));
    expect(sums([named('1')])).toEqual([]);
  });

  test('leaves out nodes that were not observed for five minutes', async () => {
    start();
    space.observed(named('1'), 'n1', looked(100n, 10n));
    space.observed(named('2'), 'n2', looked(100n, 10n));
    await clock.advance(200_000);
    space.observed(named('3'), 'n2', looked(90n, 20n));
    await clock.advance(100_001);
    expect(sums([named('1'), named('2'), named('3')])).toEqual(['n2/a 90 30']);
  });

  test('has no free bytes while the directory is missing', () => {
    start();
    space.observed(named('1'), 'n1', looked(undefined, 0n));
    expect(sums([named('1')])).toEqual(['n1/a undefined 0']);
  });
});

import { describe, expect, test } from '@jest/globals';
import { plan } from '../../../src/storage/plan.ts';
import type { ObservedSparse, VolumeOperation } from '../../../src/storage/types.ts';
import { FILE, freshNode, loop, madeNode, readyNode, UID } from '../../support/volume-input.ts';
import { desired } from './plan-cases.ts';

const SAME = 'stat -c %d -- /var/lib/metalk8s/storage/sparse';

describe('before a step', () => {
  const preconditionsOf = (
    operation: VolumeOperation,
    observed: ObservedSparse,
    program: string,
  ) => {
    const made = plan(operation, desired, observed, 5);
    const step = 'steps' in made ? made.steps.find(({ argv }) => argv[0] === program) : undefined;
    return step?.preconditions.map(({ argv, expect }) => [argv.join(' '), expect]);
  };

  test('mkfs: nothing has the name, nothing is in the partial', () => {
    expect(preconditionsOf('provision', freshNode, 'mkfs.ext4')).toEqual([
      [`test ! -e /var/lib/stowage/volumes/${UID}.done`, { exit: 0 }],
      [`test ! -e ${FILE}`, { exit: 0 }],
      [SAME, { exit: 0, stdout: { is: '65024' } }],
      [`blkid -p ${FILE}.partial`, { exit: 2 }],
    ]);
  });

  test('every step that makes the file, its name too: its directory is on the file system that was observed', () => {
    const made = plan('provision', desired, freshNode, 5);
    const steps = 'steps' in made ? made.steps : [];
    const guarded = steps.filter(({ preconditions }) =>
      preconditions.some(({ argv }) => argv.join(' ') === SAME),
    );
    expect(guarded.map(({ argv }) => argv[0])).toEqual(['rm', 'truncate', 'mkfs.ext4', 'mv']);
  });

  test('attach: it is not attached, and it is our file system', () => {
    expect(preconditionsOf('attach', madeNode, 'losetup')).toEqual([
      [`losetup -j ${FILE}`, { exit: 0, stdout: { is: '' } }],
      [`blkid -p -n ext4,xfs -o value -s UUID ${FILE}`, { exit: 0, stdout: { is: UID } }],
    ]);
  });

  test('detach: the same file of the device and of the path, nothing stacked, no mount of any process, no file system without one, no open file by device number, no holder, no swap, no folder of the kubelet', () => {
    const device = { ...loop, device: '259:31' };
    const preconditions = preconditionsOf('detach', { ...readyNode, loops: [device] }, 'losetup');
    expect(preconditions?.map(([, expected]) => expected)).toEqual([
      { exit: 0, stdout: { is: '42' } },
      { exit: 0, stdout: { is: `${1n << 30n}|42` } },
      { exit: 0, stdout: { is: '' } },
      { stdout: { has: ' / /proc ', lacks: ' 259:31 ' } },
      { exit: 0, stdout: { is: '/sys/fs' } },
      { exit: 0, stdout: { is: '' } },
      { exit: 0, stdout: { has: 'Filename', lacks: '/dev/loop3 ' } },
      { stdout: { has: '/character special file|1:3/', lacks: '/block special file|103:1f/' } },
      { stdout: { has: '/dev/null', lacks: 'local-volume/' } },
    ]);
  });

  test('detach: whether the path leads to the file still is nothing to a Volume whose data is given up', () => {
    const givenUp = plan('detach', { ...desired, givenUp: true }, readyNode, 5);
    const programs =
      'steps' in givenUp ? givenUp.steps[0]?.preconditions.map(({ argv }) => argv[0]) : [];
    expect(programs).toContain('losetup');
    expect(programs).not.toContain('stat');
  });

  test('remove: no loop has it', () => {
    expect(preconditionsOf('delete', madeNode, 'rm')).toEqual([
      [`losetup -j ${FILE}`, { exit: 0, stdout: { is: '' } }],
    ]);
  });

  test('only attaching, and what a busy udev is asked and waited for, may be outrun', () => {
    const made = plan('provision', desired, freshNode, 5);
    const racing =
      'steps' in made ? made.steps.filter(({ failureMeansConflict }) => failureMeansConflict) : [];
    expect(racing.map(({ argv }) => argv.slice(0, 2).join(' '))).toEqual([
      'flock -x',
      'losetup /dev/loop5',
      'udevadm settle',
    ]);
  });
});

import { describe, expect, test } from '@jest/globals';
import { plan } from '../../../src/storage/plan.ts';
import type { ObservedSparse, VolumeOperation } from '../../../src/storage/types.ts';
import { FILE, freshNode, loop, madeNode, readyNode, UID } from '../../support/volume-input.ts';
import { desired } from './plan-cases.ts';

const SAME = 'stat -c %d -- /var/lib/metalk8s/storage/sparse';

describe('preconditions of a step', () => {
  const preconditionsOf = (
    operation: VolumeOperation,
    observed: ObservedSparse,
    program: string,
  ) => {
    const made = plan(operation, desired, observed, 5);
    const step = 'steps' in made ? made.steps.find(({ argv }) => argv[0] === program) : undefined;
    return step?.preconditions.map(({ argv, expect }) => [argv.join(' '), expect]);
  };

  test('mkfs requires a free name and an empty partial file', () => {
    expect(preconditionsOf('provision', freshNode, 'mkfs.ext4')).toEqual([
      [`test ! -e /var/lib/stowage/volumes/${UID}.done`, { exit: 0 }],
      [`test ! -e ${FILE}`, { exit: 0 }],
      [SAME, { exit: 0, stdout: { is: '65024' } }],
      [`blkid -p ${FILE}.partial`, { exit: 2 }],
    ]);
  });

  test('rm, truncate, mkfs and mv require the observed file system', () => {
    const made = plan('provision', desired, freshNode, 5);
    const steps = 'steps' in made ? made.steps : [];
    const guarded = steps.filter(({ preconditions }) =>
      preconditions.some(({ argv }) => argv.join(' ') === SAME),
    );
    expect(guarded.map(({ argv }) => argv[0])).toEqual(['rm', 'truncate', 'mkfs.ext4', 'mv']);
  });

  test('attach requires a detached file with the Volume’s UUID', () => {
    expect(preconditionsOf('attach', madeNode, 'losetup')).toEqual([
      [`losetup -j ${FILE}`, { exit: 0, stdout: { is: '' } }],
      [`blkid -p -n ext4,xfs -o value -s UUID ${FILE}`, { exit: 0, stdout: { is: UID } }],
    ]);
  });

  test('detach requires the same file and no remaining use', () => {
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

  test('detach ignores the path of the file if the Volume is deleted with its data', () => {
    const discarded = plan('detach', { ...desired, discarded: true }, readyNode, 5);
    const programs =
      'steps' in discarded ? discarded.steps[0]?.preconditions.map(({ argv }) => argv[0]) : [];
    expect(programs).toContain('losetup');
    expect(programs).not.toContain('stat');
  });

  test('rm requires that no loop device has the file', () => {
    expect(preconditionsOf('delete', madeNode, 'rm')).toEqual([
      [`losetup -j ${FILE}`, { exit: 0, stdout: { is: '' } }],
    ]);
  });

  test('a failure means a conflict only for losetup and the commands to udev', () => {
    const made = plan('provision', desired, freshNode, 5);
    const racing =
      'steps' in made ? made.steps.filter(({ failureMeansConflict }) => failureMeansConflict) : [];
    expect(racing.map(({ argv }) => argv.slice(0, 2).join(' '))).toEqual([
      'flock -x',
      'losetup /dev/loop5',
      'udevadm settle',
    ]);
  });

  test.each([
    ['detach', 'losetup -d /dev/loop3', readyNode, desired],
    ['delete', 'losetup -d /dev/loop3', readyNode, { ...desired, discarded: true }],
    [
      'attach',
      'losetup -c /dev/loop3',
      { ...readyNode, file: { ...readyNode.file, sizeBytes: 2n << 30n } },
      { ...desired, sizeBytes: 2n << 30n },
    ],
  ] as const)(
    'another may have detached the loop device before the %s: %s',
    (operation, command, observed, wanted) => {
      const made = plan(operation, wanted, observed as ObservedSparse, 5);
      const steps = 'steps' in made ? made.steps : [];
      expect(steps.find(({ argv }) => argv.join(' ') === command)).toMatchObject({
        failureMeansConflict: true,
      });
    },
  );
});

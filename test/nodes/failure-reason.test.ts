import { expect, test } from '@jest/globals';
import { type Reason, reason } from '../../src/api/reasons.ts';
import { failureReason } from '../../src/nodes/failure-reason.ts';
import type { FailedState } from '../../src/nodes/job.ts';

const STEP = { name: 'make it', command: "'/usr/sbin/make-it' '-f'" };
const failed = (exit: number, output = ''): FailedState => ({
  state: 'failed',
  ...{ step: STEP, exit, output },
});
const noSpace = (output: string) =>
  reason('NoSpaceLeft', { step: 'make it', exit: 5, output: output.trim() });
const tooSmall = (output: string) =>
  reason('VolumeTooSmall', { step: 'make it', exit: 1, output: output.trim() });

const FULL = "dd: error writing '/dev/full': No space left on device\n";
const GROUP = '  Volume group "vg0" has insufficient free space (0 extents): 25 required.\n';
const FREE = '  Insufficient free space: 25 extents needed, but only 10 available\n';
const EXTENTS =
  '  Insufficient suitable allocatable extents for logical volume a: 5 more required\n';
const EXT4 = 'x: Not enough space to build proposed filesystem while setting up superblock\n';
const XFS = 'Filesystem must be larger than 300MB.\n';

test.each<[string, FailedState, Reason | undefined]>([
  ['the job is gone', { state: 'died' }, reason('JobDied')],
  [
    'the job is gone at a step',
    { state: 'died', step: STEP },
    reason('JobDied', { step: 'make it' }),
  ],
  [
    'a precondition did not hold',
    {
      state: 'guarded',
      ...{ step: STEP, refusal: 'no', output: '', reason: reason('UseUnknown', { device: 'x' }) },
    },
    reason('UseUnknown', { device: 'x' }),
  ],
  [
    'a precondition of an earlier version did not hold',
    { state: 'guarded', step: STEP, refusal: 'no', output: '' },
    undefined,
  ],
  [
    'its program is missing',
    failed(127),
    reason('ToolMissing', { program: '/usr/sbin/make-it', step: 'make it' }),
  ],
  [
    'a program of its script is missing',
    failed(1, 'stowage-missing zstd\n'),
    reason('ToolMissing', { program: 'zstd', step: 'make it' }),
  ],
  ['a disk is full', failed(5, FULL), noSpace(FULL)],
  ['a volume group is full', failed(5, GROUP), noSpace(GROUP)],
  ['its physical volumes are full', failed(5, FREE), noSpace(FREE)],
  ['the named physical volumes are full', failed(5, EXTENTS), noSpace(EXTENTS)],
  ['ext4 finds no room', failed(1, EXT4), tooSmall(EXT4)],
  [
    'XFS finds no room, and prints its usage',
    failed(1, `${XFS}Usage: mkfs.xfs\n`),
    tooSmall('Usage: mkfs.xfs'),
  ],
  [
    'an unknown failure',
    failed(1, 'one\ntwo\n'),
    reason('StepFailed', { step: 'make it', exit: 1, output: 'two' }),
  ],
  ['a failure without output', failed(1), reason('StepFailed', { step: 'make it', exit: 1 })],
])('failureReason: %s', (_, state, why) => {
  expect(failureReason(state)).toEqual(why);
});

import type { FsType } from '../api/file-systems.ts';
import { type Reason, reason } from '../api/reasons.ts';
import type { FailedState } from './job.ts';
import { failureLine } from './public-text.ts';

/** Exit statuses of a shell and sudo: 126 for a program that cannot run, 127 for a missing one. */
const NOT_RUN = [126, 127];

/** Line that scripts print for a program that the node lacks. */
const MISSING = /^stowage-missing ([A-Za-z0-9._+-]{1,64})$/m;

/** Output of programs in the locale C, which they have on nodes. */
const NO_SPACE = [
  // ENOSPC, as strerror(3) of glibc and musl has it: coreutils, util-linux, tar, zstd, mkfs.
  /No space left on device/,
  // LVM 2.02.83 to 2.03.40 (lib/metadata/lv_manip.c).
  /[Ii]nsufficient free space|Insufficient suitable (?:contiguous )?allocatable extents/,
];
const TOO_SMALL: Record<FsType, RegExp> = {
  // mke2fs, until 1.47.4 (lib/ext2fs/ext2_err.et).
  ext4: /Not enough space to build proposed filesystem/,
  // mkfs.xfs 6.1 (mkfs/xfs_mkfs.c).
  xfs: /Filesystem must be larger than 300MB|of data subvolume is too small/,
};

/**
 * Returns why a job did not complete. Output of programs is recognized as far as it is listed here.
 * Returns undefined for a refusal of an earlier version, which wrote no reason. Pure.
 */
export function failureReason(state: FailedState): Reason | undefined {
  switch (state.state) {
    case 'died':
      return reason('JobDied', { step: state.step?.name });
    case 'guarded':
      return state.reason;
    default: {
      const { step, exit, output } = state;
      const [, missing] = MISSING.exec(output) ?? [];
      const [, first] = /^'([^']+)'/.exec(step.command) ?? [];
      // A script with this status did not find a program that it ran.
      const isRun = first !== undefined && first !== 'sh' && NOT_RUN.includes(exit);
      const program = missing ?? (isRun ? first : undefined);
      if (program !== undefined) return reason('ToolMissing', { program, step: step.name });
      const failed = {
        step: step.name,
        exit,
        output: failureLine(output).slice(0, 512) || undefined,
      };
      const matches = (patterns: readonly RegExp[]) => patterns.some((each) => each.test(output));
      if (matches(NO_SPACE)) return reason('NoSpaceLeft', failed);
      return matches(Object.values(TOO_SMALL))
        ? reason('VolumeTooSmall', failed)
        : reason('StepFailed', failed);
    }
  }
}

import { refuse } from '../../api/reasons.ts';
import type { Step } from '../../nodes/job.ts';
import { leaveMount } from '../grow-file-system.ts';
import { preconditionsOfDevices, userOf } from '../in-use.ts';
import type { DeviceUsage, Plan } from '../types.ts';
import { busy } from './use.ts';

/**
 * Unmounts and detaches the loop device of an unfinished copy, left by an interrupted UUID change.
 * @param path path of the unfinished copy, without symbolic links
 * @param uid intended UUID of the copy
 */
export function leaveLoop(path: string, uid: string, users: DeviceUsage): Plan {
  const steps: Step[] = [];
  for (const loop of users.loops) {
    if (loop.backingFile !== path && loop.backingFile !== `${path} (deleted)`) continue;
    const unmount = leaveMount(uid, loop, users);
    const user = unmount.length > 0 ? undefined : userOf(loop, users);
    const device = `/dev/${loop.name}`;
    if (user !== undefined) return busy(path, device, user);
    steps.push(...unmount, {
      name: `detach ${device}`,
      argv: ['losetup', '-d', device],
      preconditions: [
        {
          argv: ['losetup', '-n', '--raw', '-O', 'BACK-INO', device],
          expect: { exit: 0, stdout: { is: loop.backingInode } },
          ...refuse('LoopFileChanged', { device, file: path }),
        },
        ...preconditionsOfDevices([loop]),
      ],
      // An autoclear, or another's losetup, may have detached the device since.
      failureMeansConflict: true,
    });
  }
  return { steps };
}

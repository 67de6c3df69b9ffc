import { refuse } from '../../api/reasons.ts';
import { userOf } from '../in-use.ts';
import { oddLoop, partitionOf } from '../loopfile/file-loops.ts';
import type {
  DesiredSparse,
  DeviceUsage,
  LoopFacts,
  ObservedSparse,
  Refusal,
  SourceFacts,
} from '../types.ts';

/** Use of a file: unused, attached without a user, or mounted. */
export type Use =
  | { devices: readonly Pick<LoopFacts, 'name' | 'device'>[] }
  | { mountedAt: string; device: string }
  | Refusal;

/** Returns the use of a file to copy, or why it cannot be copied. */
export function useOf(
  volume: Pick<DesiredSparse, 'file' | 'mode' | 'readOnly'>,
  { realPath, file }: SourceFacts,
  users: DeviceUsage,
): Use {
  const [loop, ...others] = users.loops.filter(
    ({ backingFile }) => backingFile === realPath || backingFile === `${realPath} (deleted)`,
  );
  if (loop === undefined) return { devices: [] };
  // Uses the loop device's read-only flag, since the setting of the file's Volume is unknown here.
  const how = { ...volume, readOnly: loop.readOnly } as DesiredSparse;
  const odd = oddLoop(how, { file } as ObservedSparse, loop, others);
  if (odd !== undefined && 'refusal' in odd) return odd;
  const points = users.mounts.get(loop.device);
  if (volume.mode === 'Filesystem' && points !== undefined) {
    // sudo compares arguments joined by spaces, and the kernel writes a space as \040.
    const point = points.find((each) => !each.includes('\\'));
    if (point !== undefined) return { mountedAt: point, device: `/dev/${loop.name}` };
  }
  const partition = partitionOf(loop, users as ObservedSparse);
  const devices = partition === undefined ? [loop] : [loop, partition];
  for (const device of devices) {
    const user = userOf(device, users);
    if (user !== undefined) return busy(volume.file, `/dev/${device.name}`, user);
  }
  return { devices };
}

export const busy = (file: string, device: string, uses: string): Refusal => ({
  ...refuse('CopiedFileInUse', { file, device, uses }),
  retryable: true,
});

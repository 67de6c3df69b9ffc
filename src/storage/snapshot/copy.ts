import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { preconditionsOfDevices } from '../in-use.ts';
import { scriptArgv } from '../scripts/scripts.ts';
import type { DesiredSparse, DeviceUsage, Freeze, Plan, SourceFacts } from '../types.ts';
import { unchanged } from './source.ts';
import { useOf } from './use.ts';

/** For how long a file system may be frozen for a clone, in seconds. */
const CLONE_SECONDS = 10;

/**
 * The step that copies a file to `partial`, and the preconditions under which the copy may get its name; or why there can be none.
 * What is not mounted is copied as it is, and the copy is given up where something was written meanwhile. What is mounted
 * is frozen for as long as that takes.
 * @param preconditions what must hold right before
 */
export function copyStep(
  source: Pick<DesiredSparse, 'file' | 'mode' | 'readOnly'> & { facts: SourceFacts },
  users: DeviceUsage,
  freeze: Freeze,
  partial: string,
  preconditions: readonly Precondition[],
): { step: Step; whole: readonly Precondition[] } | Extract<Plan, { refusal: string }> {
  const { file, facts } = source;
  const use = useOf(source, facts, users);
  if ('refusal' in use) return use;
  if ('mountedAt' in use) {
    const { mountedAt, device } = use;
    if (!freeze.copy && !facts.mayClone) {
      const refused = refuse('FolderCannotClone', { device, mountPoint: mountedAt, file });
      return { ...refused, retryable: true };
    }
    const [seconds, mode] = freeze.copy
      ? [freeze.seconds, 'copy']
      : [Math.min(freeze.seconds, CLONE_SECONDS), 'clone'];
    const how = [mountedAt, String(seconds), file, partial, mode];
    return {
      step: {
        name: `freeze ${mountedAt} for ${seconds} s at most, and ${mode} its file`,
        argv: scriptArgv('stowage-freeze', ...how),
        preconditions,
      },
      whole: [],
    };
  }
  const same = unchanged(file, facts);
  return {
    step: {
      name: 'copy the file',
      argv: ['cp', '--reflink=auto', '--sparse=always', '--', file, partial],
      preconditions: [...preconditions, same, ...preconditionsOfDevices(use.devices)],
    },
    whole: [same],
  };
}

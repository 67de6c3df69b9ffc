import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { preconditionsOfDevices } from '../in-use.ts';
import { scriptArgv } from '../scripts/scripts.ts';
import type { DesiredSparse, DeviceUsage, Freeze, Plan, SourceFacts } from '../types.ts';
import { unchanged } from './source.ts';
import { useOf } from './use.ts';

/** Maximum freeze of a file system for a clone, in seconds. */
const CLONE_SECONDS = 10;

/**
 * Returns the step that copies a file to `partial`, and the preconditions of its final rename; or a
 * refusal. An unmounted file is copied as it is, and the copy is discarded if the file changed
 * meanwhile. A mounted file system is frozen during the copy.
 * @param preconditions preconditions of the copy
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

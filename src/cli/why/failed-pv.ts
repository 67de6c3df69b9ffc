import type { PersistentVolume } from '../../api/core.ts';
import { commandLine } from '../lib/command-line.ts';
import type { Blocker } from './types.ts';

/** Reports a PersistentVolume that is Failed. */
export function failedPv({ metadata, status }: PersistentVolume): Blocker | undefined {
  if (status?.phase !== 'Failed') return undefined;
  return {
    cause: 'PersistentVolumeFailed',
    holdup: `its PersistentVolume is Failed: ${status.message ?? 'without a message'}`,
    next: { when: 'when the PersistentVolume is in another phase' },
    fix: {
      say: 'See what failed of the PersistentVolume, and put it right.',
      run: [commandLine('kubectl', 'describe', 'pv', metadata.name)],
    },
  };
}

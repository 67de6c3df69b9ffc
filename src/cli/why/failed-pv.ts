import type { PersistentVolume } from '../../api/core.ts';
import { commandLine } from '../lib/command-line.ts';
import type { Blocker } from './types.ts';

/** Reports a PersistentVolume that is Failed. */
export function failedPv({ metadata, status }: PersistentVolume): Blocker | undefined {
  if (status?.phase !== 'Failed') return undefined;
  return {
    cause: 'PersistentVolumeFailed',
    holdup: `its PersistentVolume is Failed: ${status.message ?? 'no reason is reported'}`,
    next: { when: 'when the PersistentVolume leaves the phase Failed' },
    fix: {
      say: 'Check why the PersistentVolume failed.',
      run: [commandLine('kubectl', 'describe', 'pv', metadata.name)],
    },
  };
}

import { readyOf } from '../volume/describe.ts';
import { commandLine } from './command-line.ts';
import { failedPv } from './failed-pv.ts';
import { ownPv } from './state.ts';
import type { Cause, Known } from './types.ts';

/** The device is there; whether pods can have it is for its PersistentVolume to say. */
export const available: Cause = (known) => {
  const { volume, pv } = known;
  if (readyOf(volume)?.status !== 'True') return undefined;
  const { name } = volume.metadata;
  if ('absent' in pv) {
    return {
      holdup: 'its device is Available, but its PersistentVolume is gone',
      next: { when: 'within seconds, where a daemon runs' },
      fix: { say: 'See that the daemon runs.', run: ['stowage watch'] },
    };
  }
  const own = ownPv(known);
  if ('found' in pv && own === undefined) {
    return {
      holdup: `the PersistentVolume ${name} is not its own`,
      next: { when: 'when that PersistentVolume is gone' },
      fix: {
        say: 'Delete that PersistentVolume if nobody needs it.',
        run: [commandLine('kubectl', 'delete', 'pv', name)],
      },
    };
  }
  return own && failedPv(own);
};

/** What to say of a Volume that nothing holds up. */
export function wellOf(known: Known): string {
  const { name } = known.volume.metadata;
  const pv = ownPv(known);
  const { namespace, name: claim } = pv?.spec.claimRef ?? {};
  const held = `the claim ${namespace}/${claim}`;
  const parts = [`Volume ${name} is Available: nothing holds it up`];
  if (pv?.metadata.deletionTimestamp !== undefined) {
    parts.push('its PersistentVolume is marked for deletion, and goes when the Volume is deleted');
  }
  if (pv?.status?.phase === 'Bound') parts.push(`it is bound to ${held}`);
  else if (pv?.status?.phase === 'Released') {
    parts.push(`it was bound to ${held}, which is gone: with its data on it, no other claim gets it`);
  } else if (pv?.status?.phase === 'Available') parts.push('no claim has it yet');
  return parts.join('; ');
}

import { readReason } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { dueAt } from '../../controllers/volume/job-retry.ts';
import { parseJobName } from '../../model/job-name.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { commandLine, retry } from '../lib/command-line.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { failedPv } from './failed-pv.ts';
import { obstructionOf } from './obstruction.ts';
import { misplaced } from './placement.ts';
import { released } from './released.ts';
import { ownPv, sinceOf } from './state.ts';
import type { Blocker, Cause, Diagnosis, VolumeFacts } from './types.ts';

/** Reports problems of a Volume with a device: pods use it through the PersistentVolume. */
export const available: Cause = (known, now) => {
  const { volume, pv } = known;
  if (readyOf(volume)?.status !== 'True') return undefined;
  const { name } = volume.metadata;
  if ('absent' in pv) {
    return {
      cause: 'PersistentVolumeMissing',
      holdup: 'its device is Available, but its PersistentVolume is gone',
      next: { when: 'within seconds, if a daemon runs' },
      fix: { say: 'Start the daemon if it is not running.', run: ['stowage watch'] },
    };
  }
  const own = ownPv(known);
  if ('found' in pv && own === undefined) {
    return {
      cause: 'NameTaken',
      holdup: `PersistentVolume ${name} exists, but was not created for this Volume`,
      next: { when: 'when that PersistentVolume is gone' },
      fix: {
        say: 'Delete that PersistentVolume if it is not needed.',
        run: [commandLine('kubectl', 'delete', 'pv', name)],
      },
    };
  }
  return (own && (failedPv(own) ?? misplaced(own, volume, known.placement))) ?? growing(known, now);
};

const LEAVE_IT =
  'Leave it as it is if that size can never be reached: the volume remains usable. A requested size cannot be reduced.';
const GROWTH = {
  say: `Remove the obstacle that the message names: the expansion then continues. ${LEAVE_IT}`,
};

/** Reports whether a Volume that can be used has an incomplete expansion that fails. */
export const isGrowthFailing = (volume: Volume, now: number): boolean =>
  readyOf(volume)?.status === 'True' && growing({ volume }, now) !== undefined;

/** Reports an incomplete expansion: the Volume can be used, but a user waits for the size. */
function growing({ volume }: Pick<VolumeFacts, 'volume'>, now: number): Blocker | undefined {
  const job = parseJobName(volume.status?.job);
  const ready = readyOf(volume);
  if (ready?.detail?.code === 'CannotGrow') {
    return {
      cause: 'NotGrown',
      reason: readReason(ready.detail),
      holdup: `its device is Available and usable, but not expanded: ${ready.message}`,
      ...sinceOf(ready),
      next: { when: 'every 30 s' },
      fix: GROWTH,
    };
  }
  // An earlier version reports what prevents the expansion in the message only.
  if (ready?.message && ready.detail === undefined && job?.attempt === undefined) {
    return {
      cause: 'UnknownReason',
      holdup: `its device is Available and usable: ${ready.message}`,
      ...sinceOf(ready),
      next: { when: 'every 30 s' },
      fix: GROWTH,
    };
  }
  if (job?.kind !== 'GrowVolume' || job.attempt === undefined || job.attempt < 2) return undefined;
  const due = dueAt(volume, job.attempt, now);
  const found = obstructionOf(ready?.detail, { node: nodeOf(volume), volume });
  const first = found?.fix ?? { say: 'Remove the cause that the message names.' };
  return {
    cause: 'NotGrown',
    reason: found?.reason,
    holdup: `its device is Available and usable, but not expanded: ${ready?.message ?? ''}`,
    ...(ready === undefined ? {} : sinceOf(ready)),
    next: due > now ? { at: new Date(due).toISOString() } : { when: 'now' },
    fix: {
      say: `${first.say} Then retry the expansion. ${LEAVE_IT}`,
      run: [...(first.run ?? []), ...retry(volume)],
    },
  };
}

/** Returns the diagnosis of a Volume without a blocker. */
export function healthy(known: VolumeFacts): Diagnosis {
  const { name } = known.volume.metadata;
  const pv = ownPv(known);
  const { namespace, name: claim } = pv?.spec.claimRef ?? {};
  const held = `the claim ${namespace}/${claim}`;
  const parts = [`Volume ${name} is Available: nothing holds it up`];
  if (pv?.metadata.deletionTimestamp !== undefined) {
    parts.push(
      'its PersistentVolume is marked for deletion, and is removed when the Volume is deleted',
    );
  }
  if (pv?.status?.phase === 'Bound') parts.push(`it is bound to ${held}`);
  else if (pv?.status?.phase === 'Released') {
    parts.push(
      `it was bound to ${held}, which is gone: it keeps that claim's data, and no other claim binds to it`,
    );
  } else if (pv?.status?.phase === 'Available') parts.push('no claim is bound to it yet');
  const places = (known.volume.status?.attachments ?? []).map(({ node }) => node);
  if (places.length > 0) parts.push(`it is attached to ${places.join(', ')}`);
  const fix = pv && released(pv)?.fix;
  return { nothing: parts.join('; '), ...(fix && { fix }) };
}

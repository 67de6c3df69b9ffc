import { isWrittenOnSeveral } from '../../api/access-modes.ts';
import type { StorageClass } from '../../api/core.ts';
import type { Volume } from '../../api/volume.ts';
import { maxWaitOf } from '../../controllers/attachdetach/max-wait.ts';
import { deathDeadline, nodeSigns } from '../../model/node-death.ts';
import { MAX_WAIT_FOR_UNMOUNT } from '../../model/node-health.ts';
import { foundIn } from '../lib/read-result.ts';
import type { Blocker, VolumeFacts } from './types.ts';

/**
 * Returns when a volume that no pod needs is force-detached from a node that is not Ready;
 * undefined if never in the current state. The storage class's annotation is known here, but not
 * the daemon's flag. Pure.
 */
export function forceDetachTime(
  { volume, node: read, storageClass }: Pick<VolumeFacts, 'volume' | 'node' | 'storageClass'>,
  on: string,
): Blocker['next'] {
  const entry = volume.status?.attachments?.find(({ node }) => node === on);
  if (entry === undefined || (entry.pods ?? []).length > 0 || !isOnDemand(volume)) return undefined;
  const deadline = deathDeadline(nodeSigns(foundIn(read)), {
    requiresFencing: isWrittenOnSeveral(volume.spec),
    maxWaitMs: maxWaitOf(foundIn(storageClass), MAX_WAIT_FOR_UNMOUNT),
  });
  if (!Number.isFinite(deadline)) return undefined;
  const at = new Date(deadline).toISOString();
  return setsMaxWait(foundIn(storageClass))
    ? { at }
    : { when: `at ${at}, if --max-wait-for-unmount of the daemon is 6m` };
}

/**
 * Reports whether a Volume without pods is force-detached: with another attach policy, only its
 * deletion causes that.
 */
const isOnDemand = ({ metadata, spec }: Volume): boolean =>
  spec.attachPolicy === 'OnDemand' || metadata.deletionTimestamp !== undefined;

const setsMaxWait = (storageClass: StorageClass | undefined): boolean =>
  storageClass !== undefined && maxWaitOf(storageClass, -1) !== -1;

import { isWrittenOnSeveral } from '../../api/access-modes.ts';
import type { StorageClass } from '../../api/core.ts';
import type { Volume } from '../../api/volume.ts';
import { maxWaitOf } from '../../controllers/attachdetach/max-wait.ts';
import { MAX_WAIT_FOR_UNMOUNT, notReadySince } from '../../model/node-health.ts';
import { foundIn } from '../lib/read-result.ts';
import type { Blocker, VolumeFacts } from './types.ts';

/**
 * When a volume that no pod needs is taken for detached on a node that is not Ready, as controllers/attachdetach/force-detach.ts decides it;
 * undefined: not as things are. What the daemon's flag says is not known here, only what the storage class says. Pure.
 */
export function lettingGo(
  { volume, node: read, storageClass }: Pick<VolumeFacts, 'volume' | 'node' | 'storageClass'>,
  on: string,
): Blocker['next'] {
  const entry = volume.status?.attachments?.find(({ node }) => node === on);
  const since = notReadySince(foundIn(read));
  if (entry === undefined || since === undefined || (entry.pods ?? []).length > 0) return undefined;
  if (isWrittenOnSeveral(volume.spec) || !isOnDemand(volume)) return undefined;
  const wait = maxWaitOf(foundIn(storageClass), MAX_WAIT_FOR_UNMOUNT);
  if (!Number.isFinite(wait)) return undefined;
  const at = new Date(since + wait).toISOString();
  return isSaid(foundIn(storageClass))
    ? { at }
    : { when: `at ${at}, unless --max-wait-for-unmount of the daemon is another than 6m` };
}

/** Where it is kept attached without a pod, it is given up when it is deleted only. */
const isOnDemand = ({ metadata, spec }: Volume): boolean =>
  spec.attachPolicy === 'OnDemand' || metadata.deletionTimestamp !== undefined;

const isSaid = (storageClass: StorageClass | undefined): boolean =>
  storageClass !== undefined && maxWaitOf(storageClass, -1) !== -1;

import { attaching, attachmentDisabled } from './attached.ts';
import { available, healthyMessage } from './available.ts';
import { deleting } from './deleting.ts';
import { directoryNotMounted } from './directory.ts';
import { failed, unavailable } from './failed.ts';
import { nodeAway } from './node.ts';
import { unseen } from './not-reconciled.ts';
import { paused } from './paused.ts';
import { making } from './provisioning.ts';
import { storageClass } from './storage-class.ts';
import type { Cause, Diagnosis, VolumeFacts } from './types.ts';

/** In the order in which one keeps the others from mattering. */
const CAUSES: readonly Cause[] = [
  paused,
  nodeAway,
  unseen,
  attachmentDisabled,
  directoryNotMounted,
  deleting,
  storageClass,
  failed,
  unavailable,
  attaching,
  available,
  making,
];

/** The first thing that holds a Volume up. Pure. `now` is in ms since the epoch. */
export function diagnose(known: VolumeFacts, now: number): Diagnosis {
  for (const cause of CAUSES) {
    const found = cause(known, now);
    if (found !== undefined) return found;
  }
  return { nothing: healthyMessage(known) };
}

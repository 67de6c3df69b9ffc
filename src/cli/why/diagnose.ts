import { attaching, attachmentDisabled } from './attached.ts';
import { available, healthy } from './available.ts';
import { deleting } from './deleting.ts';
import { directoryNotMounted } from './directory.ts';
import { failed, unavailable } from './failed.ts';
import { nodeAway } from './node.ts';
import { unseen } from './not-reconciled.ts';
import { paused } from './paused.ts';
import { making } from './provisioning.ts';
import { storageClass } from './storage-class.ts';
import type { Cause, Diagnosis, VolumeFacts } from './types.ts';

/** Causes in order: each one makes the later ones irrelevant. */
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

/** Returns the first blocker of a Volume. Pure. `now` is in ms since the epoch. */
export function diagnose(known: VolumeFacts, now: number): Diagnosis {
  for (const cause of CAUSES) {
    const found = cause(known, now);
    if (found !== undefined) return found;
  }
  return healthy(known);
}

import type { PersistentVolume, Pod } from '../api/core.ts';
import { ATTACHED_NODES_ANNOTATION } from '../api/names.ts';
import type { Volume } from '../api/volume.ts';
import { isPvOf } from './desired.ts';
import type { Known } from './known.ts';
import { entriesFromRecord } from './record.ts';
import { toldBefore } from './records.ts';
import type { PodUse } from './types.ts';

/**
 * What was written down is where to begin, and nothing of it is believed before the node was looked at.
 * @param pv the PersistentVolume of the Volume's name, whoever made it
 * @param needed the pods that need the Volume
 * @param now ms since the epoch
 */
export function knownAtFirst(
  volume: Volume,
  pv: PersistentVolume | undefined,
  needed: readonly { pod: Pod; use: PodUse }[],
  now: number,
): Known {
  const { name, uid = '' } = volume.metadata;
  const entries = entriesFromRecord(
    pv !== undefined && isPvOf(pv, volume) ? pv.metadata.annotations?.[ATTACHED_NODES_ANNOTATION] : undefined,
    volume.status?.attachments,
    now,
  );
  return {
    ...{ uid, name, volume, entries, unseen: new Set(), failures: new Map() },
    told: toldBefore(name, needed),
    ...{ lives: new Map(), heeded: undefined, written: new Set(), blocked: new Map() },
    ...{ unmade: false, wanted: 0 },
  };
}

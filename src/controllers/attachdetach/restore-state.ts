import { isReadOnlyShared } from '../../api/access-modes.ts';
import type { PersistentVolume, Pod } from '../../api/core.ts';
import type { Logger } from '../../api/logger.ts';
import { ATTACHED_NODES_ANNOTATION } from '../../api/names.ts';
import type { Volume } from '../../api/volume.ts';
import { isPvOf } from '../../model/persistent-volume.ts';
import { attachmentsFromAnnotation } from './attached-nodes-annotation.ts';
import { sharedBy } from './desired-state.ts';
import { emittedBefore } from './status-updater.ts';
import type { PodUse } from './types.ts';
import type { VolumeState } from './volume-state.ts';

/**
 * Restores the state of a Volume from what was recorded. All attachments are uncertain until their
 * nodes are verified.
 * @param pv the PersistentVolume with the Volume's name, of any owner
 * @param needed the pods that need the Volume
 * @param now ms since the epoch
 */
export function restoreState(
  volume: Volume,
  pv: PersistentVolume | undefined,
  needed: readonly { pod: Pod; use: PodUse }[],
  now: number,
  logger: Pick<Logger, 'warn'>,
): VolumeState {
  const { name, uid = '' } = volume.metadata;
  const recorded = attachmentsFromAnnotation(
    pv !== undefined && isPvOf(pv, volume)
      ? pv.metadata.annotations?.[ATTACHED_NODES_ANNOTATION]
      : undefined,
    volume.status?.attachments,
    now,
    // An unreachable node recorded as a writer would block all other nodes.
    isReadOnlyShared(volume.spec),
  );
  const canHaveIt = possibleHolders(volume);
  const entries = recorded.filter(({ node }) => canHaveIt.has(node));
  if (entries.length < recorded.length) {
    const nodes = recorded.map(({ node }) => node).filter((node) => !canHaveIt.has(node));
    logger.warn(
      { volume: name, nodes },
      'ignored recorded attachments to nodes that cannot have the Volume',
    );
  }
  return {
    ...{ uid, name, volume, entries, unverifiedNodes: new Set(), failures: new Map() },
    emittedEvents: emittedBefore(name, needed),
    ...{
      incarnations: new Map(),
      lastDeviceMissingVersion: undefined,
      written: new Set(),
      blocked: new Map(),
    },
    ...{ notProvisioned: false, wanted: 0 },
  };
}

/**
 * Returns the nodes that the Volume can ever have been attached to: its nodes never change, and no
 * other node has its disk. A recorded other node is not Stowage's: while unreachable, it would
 * block the Volume's own nodes.
 */
const possibleHolders = (volume: Volume): ReadonlySet<string | undefined> =>
  new Set(sharedBy(volume) ?? [volume.status?.prepared?.node, volume.spec.nodeName]);

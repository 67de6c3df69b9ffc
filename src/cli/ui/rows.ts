import type { CsiStorageCapacity, KubeNode, PersistentVolume } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import { HOSTNAME_LABEL } from '../../api/names.ts';
import { isPaused } from '../../api/paused.ts';
import { phaseOf } from '../../api/phase.ts';
import { parseQuantity } from '../../api/quantity.ts';
import type { Attachment, Condition, Volume } from '../../api/volume.ts';
import { sizeIn } from '../../api/volume-size.ts';
import { isPvOf } from '../../model/persistent-volume.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { driversOf } from '../../storage/registry.ts';
import type {
  AttachmentRow,
  ClassRoom,
  ConditionRow,
  NodeRow,
  VolumeRow,
} from '../../ui/protocol.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { readableSize } from '../lib/output/size.ts';
import { publicMessage, publicName, publicPair, publicTime } from './public-text.ts';

/** Maximum pods of an attachment that the page gets. */
const MOST_PODS = 50;

/** Returns the bytes of a quantity for sorting; 0 if it is missing or invalid. */
export function bytesOf(quantity: string | undefined): number {
  try {
    return Number(parseQuantity(quantity ?? 0));
  } catch {
    return 0;
  }
}

/**
 * Returns the row of a Volume: named fields only, as safe texts.
 * @param pv PersistentVolume with the Volume's name, if it is known
 */
export function volumeRow(volume: Volume, pv: PersistentVolume | undefined): VolumeRow {
  const { metadata, spec, status } = volume;
  const driver = driversOf(spec).at(0);
  // The measured capacity, as in `get volumes`, else the requested size.
  const size = status?.capacity ?? (driver && sizeIn(spec, driver.field));
  const ready = readyOf(volume);
  const claim = pv !== undefined && isPvOf(pv, volume) ? pv.spec.claimRef : undefined;
  return {
    name: publicName(metadata.name),
    node: publicName(nodeOf(volume)),
    type: driver?.label ?? '',
    size: size === undefined ? '' : publicName(readableSize(size)),
    bytes: bytesOf(size),
    phase: publicName(phaseOf(volume) ?? 'Unknown'),
    ready: publicName(ready?.status),
    reason: publicName(ready?.reason),
    claim: claim === undefined ? '' : publicPair(claim.namespace, claim.name),
    created: publicTime(metadata.creationTimestamp),
    paused: isPaused(volume),
    deleting: metadata.deletionTimestamp !== undefined,
    attachments: (status?.attachments ?? []).map(attachmentRow),
    version: versionOf(volume),
  };
}

/** Returns a text that changes with each change of an object. */
export const versionOf = ({ metadata }: KubeObject): string =>
  publicName(`${metadata.uid ?? ''}/${metadata.resourceVersion ?? ''}`);

/** Returns the row of a condition of a Volume or a Node. */
export const conditionRow = (
  condition: Partial<Omit<Condition, 'status'>> & { status?: string },
): ConditionRow => ({
  type: publicName(condition.type),
  status: publicName(condition.status),
  reason: publicName(condition.reason),
  message: publicMessage(condition.message),
  since: publicTime(condition.lastTransitionTime),
});

const attachmentRow = (attachment: Attachment): AttachmentRow => ({
  node: publicName(attachment.node),
  state: publicName(attachment.state),
  device: publicName(attachment.device),
  readOnly: attachment.readOnly ?? false,
  safeToMount: attachment.safeToMount,
  safeToDetach: attachment.safeToDetach,
  pods: (attachment.pods ?? []).slice(0, MOST_PODS).map(publicName),
  since: publicTime(attachment.since),
  message: publicMessage(attachment.message),
});

/** Returns the host name of the node that a capacity is for. */
export const hostnameIn = ({ nodeTopology }: CsiStorageCapacity): string =>
  nodeTopology?.matchLabels?.[HOSTNAME_LABEL] ?? '';

/** Returns the row of a Node: named fields only. `capacities`: those for its host name. */
export function nodeRow(node: KubeNode, capacities: readonly CsiStorageCapacity[]): NodeRow {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    name: publicName(node.metadata.name),
    ready: publicName(ready?.status),
    paused: isPaused(node),
    room: capacities
      .map(
        ({ storageClassName, capacity }): ClassRoom => ({
          storageClass: publicName(storageClassName),
          bytes: bytesOf(capacity),
        }),
      )
      .toSorted((a, b) => (a.storageClass < b.storageClass ? -1 : 1)),
  };
}

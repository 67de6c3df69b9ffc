import type { KubeNode, StorageClass } from '../../api/core.ts';
import type { Logger } from '../../api/logger.ts';
import type {
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '../../api/snapshot.ts';
import type { Volume } from '../../api/volume.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { Informer } from '../../kube/informer.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Clock } from '../../workqueue/clock.ts';
import type { Rooms } from '../lib/capacity/capacity-cache.ts';
import type { Reservations } from '../lib/capacity/reservations.ts';
import type { NodeWork } from './node-work.ts';
import type { ContentInput } from './types.ts';

export interface ContentDeps {
  client: KubeClient;
  contents: Informer<VolumeSnapshotContent>;
  snapshots: Informer<VolumeSnapshot>;
  snapshotClasses: Informer<VolumeSnapshotClass>;
  volumes: Informer<Volume>;
  nodes: Informer<KubeNode>;
  storageClasses: Informer<StorageClass>;
  rooms: Pick<Rooms, 'room' | 'look'>;
  /** Contents in which jobs are being named. */
  naming: Reservations<VolumeSnapshotContent>;
  /** Volumes that are being made from the content of that name. */
  restoresOf(contentName: string): readonly Volume[];
  /** Where a snapshot of the Volume is to be, by the UID of its content, and which node makes it; or why there is none. */
  placeOf(volume: Volume, contentUid: string): ContentInput['place'];
  work: NodeWork;
  /** The nodes that this process reaches. */
  managesNode(node: string): boolean;
  events: EventRecorder;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
  /** Decide again about the content of that name. */
  enqueue(name: string): void;
  onOperation?: ((operation: ContentOperation) => void) | undefined;
}
/** What was done on nodes, for metrics. */

export interface ContentOperation {
  operation: 'create' | 'delete';
  /** '' where the content names none. */
  snapshotClass: string;
  succeeded: boolean;
  /** From when it was asked for; of one that failed, from when its job was named. */
  ms: number;
}

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
  rooms: Pick<Rooms, 'room' | 'observe'>;
  /** Contents in which a job is being recorded; their room is reserved. */
  naming: Reservations<VolumeSnapshotContent>;
  /** Returns the Volumes being provisioned from the content of that name. */
  restoresOf(contentName: string): readonly Volume[];
  /**
   * Returns the place of a snapshot, by its content's UID, and the node that takes it; or why none
   * is possible.
   */
  placeOf(volume: Volume, contentUid: string): ContentInput['place'];
  work: NodeWork;
  /** Reports whether this process manages the node. */
  managesNode(node: string): boolean;
  events: EventRecorder;
  clock: Pick<Clock, 'timeOfDay'>;
  logger: Logger;
  /** Requeues the content of that name. */
  enqueue(name: string): void;
  onOperation?: ((operation: ContentOperation) => void) | undefined;
}

/** Operation on a node, for metrics. */
export interface ContentOperation {
  operation: 'create' | 'delete';
  /** Empty if the content names no class. */
  snapshotClass: string;
  succeeded: boolean;
  /** Time since the request; for a failed operation, since its job was recorded. */
  ms: number;
}

import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core.ts';
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
import type { SnapshotMode } from './types.ts';

export interface SnapshotDeps {
  client: KubeClient;
  snapshots: Informer<VolumeSnapshot>;
  contents: Informer<VolumeSnapshotContent>;
  snapshotClasses: Informer<VolumeSnapshotClass>;
  claims: Informer<PersistentVolumeClaim>;
  persistentVolumes: Informer<PersistentVolume>;
  volumes: Informer<Volume>;
  /** Returns the Volumes being provisioned from the content of that name. */
  restoresOf(contentName: string): readonly Volume[];
  /** Returns the Volumes whose source is the Volume of that name. */
  clonesOf(volumeName: string): readonly Volume[];
  snapshotsOfClaim(namespace: string, name: string): readonly VolumeSnapshot[];
  mode(): SnapshotMode;
  events: EventRecorder;
  clock: Pick<Clock, 'timeOfDay'>;
  logger: Logger;
}

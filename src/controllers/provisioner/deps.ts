import type {
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../api/core.ts';
import type { Logger } from '../../api/logger.ts';
import type { Volume } from '../../api/volume.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { Informer } from '../../kube/informer.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Clock } from '../../workqueue/clock.ts';
import type { Rooms } from '../lib/capacity/capacity-cache.ts';
import type { Reservations } from '../lib/capacity/reservations.ts';
import type { ClaimStart, Provisioned } from './types.ts';

export interface ClaimReconcilerDeps {
  client: KubeClient;
  claims: Informer<PersistentVolumeClaim>;
  volumes: Informer<Volume>;
  persistentVolumes: Informer<PersistentVolume>;
  storageClasses: Informer<StorageClass>;
  nodes: Informer<KubeNode>;
  /** Returns the pods that use a claim and have not ended. */
  consumersOf(claim: PersistentVolumeClaim): readonly Pod[];
  /** Returns the Volumes being provisioned from the Volume of that name. */
  clonesOf(volumeName: string): readonly Volume[];
  rooms: Rooms;
  reservations: Reservations<Volume>;
  /** Resolves a claim's data source by live reads. Throws errors of the API server. */
  resolve(claim: PersistentVolumeClaim): Promise<ClaimStart>;
  managesNode(node: string): boolean;
  events: EventRecorder;
  clock: Pick<Clock, 'now' | 'timeOfDay'>;
  logger: Logger;
  onProvisioned?: ((end: Provisioned) => void) | undefined;
}

import { Registry } from 'prom-client';
import type { KubeObject, Resource } from '../../api/meta.ts';
import type { Volume } from '../../api/volume.ts';
import type { Informer } from '../../kube/informer.ts';
import type { ApiCall } from '../../kube/transport.ts';
import type { JobEnd } from '../../nodes/job-observer.ts';
import type { Observed } from '../../storage/registry.ts';
import type { ReconcileResult } from '../../workqueue/controller.ts';
import type { WorkQueue } from '../../workqueue/work-queue.ts';
import { apiCallMetrics } from './api-calls.ts';
import { type AttachmentMetrics, attachmentMetrics } from './attachments.ts';
import { type ClaimMetrics, claimMetrics } from './claims.ts';
import { informerMetrics } from './informers.ts';
import { jobMetrics } from './jobs.ts';
import { type PopulationMetrics, populationMetrics } from './populations.ts';
import { processMetrics } from './process.ts';
import { queueMetrics } from './queues.ts';
import { reconcileMetrics } from './reconciles.ts';
import { type SnapshotMetrics, snapshotMetrics } from './snapshots.ts';
import { volumeMetrics } from './volumes.ts';

export interface MetricsOptions {
  /** ms since the epoch. */
  clock: { now(): number };
  /** How the node is reached: `ssh`. */
  transportOf(node: string): string;
}

/**
 * What the daemon counts, for Prometheus. What happens is counted where it takes effect, by whom the functions here are
 * handed to; what is, is read when it is asked for. No label is a Volume's name: their number has no bound.
 */
export interface Metrics {
  /** For series that are kept elsewhere. */
  registry: Registry;
  /** All series, in Prometheus' text format. */
  read(): Promise<{ contentType: string; body: string }>;
  onCall(call: ApiCall): void;
  onJobEnd(end: JobEnd): void;
  /** Whoever runs the controller tells the ends of its reconciles. A later one of the name takes the place of this. */
  addController(name: string, queue: WorkQueue): (result: ReconcileResult, ms: number) => void;
  /** A later one of the resource takes the place of this. */
  addInformer<T extends KubeObject>(resource: Resource, informer: Informer<T>): void;
  attachments: AttachmentMetrics;
  snapshots: SnapshotMetrics;
  claims: ClaimMetrics;
  populations: PopulationMetrics;
  /** Whoever looks at nodes tells what was found. Later ones take the place of these. */
  addVolumes(volumes: Informer<Volume>): (volume: Volume, node: string, observed: Observed) => void;
}

export function createMetrics({ clock, transportOf }: MetricsOptions): Metrics {
  const registry = new Registry();
  processMetrics(registry);
  const addQueue = queueMetrics(registry);
  const reconciles = reconcileMetrics(registry);
  return {
    registry,
    read: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
    onCall: apiCallMetrics(registry),
    onJobEnd: jobMetrics(registry, transportOf),
    addController(name, queue) {
      addQueue(name, queue);
      return reconciles(name);
    },
    attachments: attachmentMetrics(registry),
    snapshots: snapshotMetrics(registry),
    claims: claimMetrics(registry),
    populations: populationMetrics(registry),
    addInformer: informerMetrics(registry, clock),
    addVolumes: volumeMetrics(registry, clock),
  };
}

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
  /** Returns ms since the epoch. */
  clock: { now(): number };
  /** Returns the transport of the node: `ssh`. */
  transportOf(node: string): string;
}

/**
 * Metrics of the daemon, for Prometheus. Events are counted where they happen, through the
 * functions here. State is read at each scrape. No label is a Volume's name: their number is
 * unbounded.
 */
export interface Metrics {
  /** Registry for series that other modules own. */
  registry: Registry;
  /** Returns all series, in Prometheus' text format. */
  read(): Promise<{ contentType: string; body: string }>;
  onCall(call: ApiCall): void;
  onJobEnd(end: JobEnd): void;
  /**
   * Adds a controller, and returns a function to call at the end of each reconcile. Replaces an
   * earlier controller of the name.
   */
  addController(name: string, queue: WorkQueue): (result: ReconcileResult, ms: number) => void;
  /** Adds an informer. Replaces an earlier one of the resource. */
  addInformer<T extends KubeObject>(resource: Resource, informer: Informer<T>): void;
  attachments: AttachmentMetrics;
  snapshots: SnapshotMetrics;
  claims: ClaimMetrics;
  populations: PopulationMetrics;
  /**
   * Adds the Volumes, and returns a function to call after each observation of a node. Replaces
   * earlier ones.
   */
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

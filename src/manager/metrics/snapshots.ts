import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { DRIVER } from '../../api/names.ts';
import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import type { ContentOperation } from '../../controllers/snapshot/content-deps.ts';
import type { Informer } from '../../kube/informer.ts';
import { label } from './label.ts';

const STATES = ['ready', 'pending', 'failing', 'deleting'] as const;
type State = (typeof STATES)[number];

export interface SnapshotMetrics {
  /** Sets the source of the gauges. Replaces the previous one. */
  add(contents: Informer<VolumeSnapshotContent>): void;
  onOperation(operation: ContentOperation): void;
}

/** Registers counts and durations of snapshots by class; '' stands for contents without a class. */
export function snapshotMetrics(registry: Registry): SnapshotMetrics {
  const registers = [registry];
  let contents: Informer<VolumeSnapshotContent> | undefined;

  const operations = new Counter({
    registers,
    name: 'stowage_snapshot_operations_total',
    help: 'Snapshots taken and removed, and failed jobs that take or remove them.',
    labelNames: ['operation', 'class', 'result'],
  });
  const durations = new Histogram({
    registers,
    name: 'stowage_snapshot_operation_seconds',
    help: 'Time from the request for a snapshot or its removal until it was done; for a failed job, the duration of the job.',
    labelNames: ['operation', 'class', 'result'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
  });
  new Gauge({
    registers,
    name: 'stowage_snapshots',
    help: 'VolumeSnapshotContents of this driver.',
    labelNames: ['class', 'state'],
    collect() {
      this.reset();
      for (const content of contents?.list() ?? []) {
        if (content.spec.driver !== DRIVER) continue;
        const name = label(content.spec.volumeSnapshotClassName ?? '');
        for (const state of STATES)
          this.inc({ class: name, state }, stateOf(content) === state ? 1 : 0);
      }
    },
  });

  return {
    add(informer) {
      contents = informer;
    },
    onOperation({ operation, snapshotClass, succeeded, ms }) {
      const result = succeeded ? 'succeeded' : 'failed';
      const labels = { operation, class: label(snapshotClass), result };
      operations.inc(labels);
      durations.observe(labels, ms / 1000);
    },
  };
}

function stateOf({ metadata, status }: VolumeSnapshotContent): State {
  if (metadata.deletionTimestamp !== undefined) return 'deleting';
  if (status?.readyToUse) return 'ready';
  return status?.error === undefined ? 'pending' : 'failing';
}

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type {
  AttachmentOperationKind,
  ForcedReason,
} from '../../controllers/attachdetach/types.ts';
import type { PendingOperation } from '../../workqueue/pending-operations.ts';

/** Current attachments and operations, read at each scrape. */
export interface Attachments {
  /** Returns the number of entries of the actual state. */
  actual(): number;
  /** Returns the number of pairs of Volume and node where it is wanted. */
  desired(): number;
  operations(): readonly PendingOperation<AttachmentOperationKind>[];
}

export interface AttachmentMetrics {
  /** Sets the source of the gauges. Replaces the previous one. */
  add(attachments: Attachments, clock: { now(): number }): void;
  onOperation(kind: AttachmentOperationKind, succeeded: boolean, ms: number): void;
  onForced(reason: ForcedReason): void;
}

/** Plugin name of the volumes in kube-controller-manager's metrics. */
const PLUGIN = 'volume.stowage.dev';

/** Operation names of kube-controller-manager. */
const OPERATION_NAMES: Record<AttachmentOperationKind, string> = {
  attach: 'volume_attach',
  detach: 'volume_detach',
  verify: 'verify_volumes_are_attached',
};

/**
 * Registers attachment metrics. Uses names and labels of kube-controller-manager where it has such
 * a series, so that its dashboards and alerts work.
 */
export function attachmentMetrics(registry: Registry): AttachmentMetrics {
  const registers = [registry];
  let read: { attachments: Attachments; clock: { now(): number } } | undefined;

  new Gauge({
    registers,
    name: 'attachdetach_controller_total_volumes',
    help: 'Attachments in the actual state, including uncertain ones, and in the desired state.',
    labelNames: ['plugin_name', 'state'],
    collect() {
      if (read === undefined) return;
      const { attachments } = read;
      this.set({ plugin_name: PLUGIN, state: 'actual_state_of_world' }, attachments.actual());
      this.set({ plugin_name: PLUGIN, state: 'desired_state_of_world' }, attachments.desired());
    },
  });
  const durations = new Histogram({
    registers,
    name: 'storage_operation_duration_seconds',
    help: 'Duration of operations that attach, detach or verify.',
    labelNames: ['volume_plugin', 'operation_name', 'status', 'migrated'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
  });
  const forced = new Counter({
    registers,
    name: 'attach_detach_controller_attachdetach_controller_forced_detaches',
    help: 'Volumes that were force-detached without verification.',
    labelNames: ['reason'],
  });
  for (const reason of ['timeout', 'out-of-service', 'node-gone', 'ordered'])
    forced.inc({ reason }, 0);
  new Gauge({
    registers,
    name: 'stowage_attachment_operations',
    help: 'Running and queued operations.',
    labelNames: ['kind', 'state'],
    collect() {
      for (const kind of Object.keys(OPERATION_NAMES) as AttachmentOperationKind[]) {
        const all = read?.attachments.operations().filter((each) => each.kind === kind) ?? [];
        const running = all.filter((each) => each.running).length;
        this.set({ kind, state: 'running' }, running);
        this.set({ kind, state: 'waiting' }, all.length - running);
      }
    },
  });
  new Gauge({
    registers,
    name: 'stowage_attachment_operation_oldest_age_seconds',
    help: 'Age of the oldest running or queued operation; 0 if there is none.',
    labelNames: ['kind'],
    collect() {
      for (const kind of Object.keys(OPERATION_NAMES) as AttachmentOperationKind[]) {
        const since = read?.attachments
          .operations()
          .flatMap((each) => (each.kind === kind ? each.since : []));
        const age = read && since?.length ? (read.clock.now() - Math.min(...since)) / 1000 : 0;
        this.set({ kind }, age);
      }
    },
  });

  return {
    add(attachments, clock) {
      read = { attachments, clock };
    },
    onOperation(kind, succeeded, ms) {
      const status = succeeded ? 'success' : 'fail-unknown';
      const labels = {
        volume_plugin: PLUGIN,
        operation_name: OPERATION_NAMES[kind],
        status,
        migrated: 'false',
      };
      durations.observe(labels, ms / 1000);
    },
    onForced: (reason) => forced.inc({ reason }),
  };
}

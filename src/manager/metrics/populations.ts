import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Pod } from '../../api/core.ts';
import { READY_REASON } from '../../api/names.ts';
import type { Volume } from '../../api/volume.ts';
import type { DataSourceClass } from '../../controllers/data-source-validator/decide.ts';
import type { Populated } from '../../controllers/populator/reconciler.ts';
import type { FillEnded } from '../../controllers/volume/fill-ended.ts';
import type { Informer } from '../../kube/informer.ts';
import { parseJobName } from '../../model/job-name.ts';
import { sizeOf as sizeAsked } from '../../storage/registry.ts';
import { label } from './label.ts';

export interface PopulationMetrics {
  onVerdict(verdict: DataSourceClass | 'error'): void;
  /** Records that a pod, or a job on a node, has populated a volume or failed. */
  onEnd(end: Populated | FillEnded): void;
  /**
   * Adds the pods that populate volumes, and the size in bytes of each one's volume. Replaces
   * earlier ones.
   */
  addPods(pods: Pick<Informer<Pod>, 'list'>, sizeOf: (pod: Pod) => bigint): void;
  /** Adds the Volumes; those populated on their nodes count. Replaces earlier ones. */
  addVolumes(volumes: Pick<Informer<Volume>, 'list'>): void;
}

const PHASES = ['Pending', 'Running', 'Succeeded', 'Failed'];

/**
 * Registers metrics of validated data sources and populated volumes. KEP-1495 defines the names,
 * which follow its own conventions.
 */
export function populationMetrics(registry: Registry): PopulationMetrics {
  const registers = [registry];
  const verdicts = new Counter({
    registers,
    name: 'volume_data_source_validator_operation_count',
    help: 'Validated data sources of claims, by result.',
    labelNames: ['result'],
  });
  const ends = new Counter({
    registers,
    name: 'volume_populator_operation_count',
    help: 'Pods and jobs on nodes that populated a volume, or failed to.',
    labelNames: ['operation_name', 'result'],
  });
  const durations = new Histogram({
    registers,
    name: 'volume_populator_operation_seconds',
    help: 'Time from the creation of a pod until the claim had its volume, or the pod failed; without a pod, from the creation of the Volume.',
    labelNames: ['operation_name', 'result'],
    buckets: [1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 36_000],
  });
  const filledBytes = new Counter({
    registers,
    name: 'stowage_populated_bytes_total',
    help: 'Total size of the populated volumes.',
    labelNames: ['class'],
  });
  let pods: Pick<Informer<Pod>, 'list'> | undefined;
  let sizeOf = (_pod: Pod): bigint => 0n;
  let volumes: Pick<Informer<Volume>, 'list'> | undefined;
  /**
   * Returns the sizes of volumes populated by pods in that phase; a job on a node counts as a pod.
   */
  const inFlight = (phase: string): bigint[] => [
    ...(pods?.list().filter(({ status }) => (status?.phase ?? 'Pending') === phase) ?? []).map(
      sizeOf,
    ),
    ...(volumes?.list().filter((volume) => fillPhase(volume) === phase) ?? []).map(({ spec }) =>
      sizeAsked(spec),
    ),
  ];
  new Gauge({
    registers,
    name: 'stowage_populations_in_flight',
    help: 'Pods that populate a volume, and Volumes that are populated on their nodes: Running once they have a job, and do not wait for their data source.',
    labelNames: ['phase'] as const,
    collect() {
      for (const phase of PHASES) this.set({ phase }, inFlight(phase).length);
    },
  });
  new Gauge({
    registers,
    name: 'stowage_populations_in_flight_bytes',
    help: 'Total size of the volumes that these pods and nodes populate.',
    labelNames: ['phase'] as const,
    collect() {
      for (const phase of PHASES) {
        this.set({ phase }, Number(inFlight(phase).reduce((sum, bytes) => sum + bytes, 0n)));
      }
    },
  });
  return {
    onVerdict: (result) => verdicts.inc({ result }),
    onEnd({ result, ms, filled }) {
      const labels = { operation_name: 'populate', result };
      ends.inc(labels);
      if (ms !== undefined) durations.observe(labels, ms / 1000);
      if (filled !== undefined)
        filledBytes.inc({ class: label(filled.storageClass) }, Number(filled.bytes));
    },
    addPods(of, size) {
      pods = of;
      sizeOf = size;
    },
    addVolumes(of) {
      volumes = of;
    },
  };
}

/**
 * Returns the phase that a pod would have; undefined for a Volume that is not populated on its
 * node, or is complete.
 */
function fillPhase({ spec, status }: Volume): (typeof PHASES)[number] | undefined {
  if (spec.source?.populator == null || status?.prepared != null) return undefined;
  if (status?.phase === 'Failed') return 'Failed';
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const waits =
    ready?.reason === READY_REASON.waitingForSource || parseJobName(status?.job) === undefined;
  return waits ? 'Pending' : 'Running';
}

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
  /** A pod, or a job on a node, has filled a volume or failed to. */
  onEnd(end: Populated | FillEnded): void;
  /** Those that fill volumes, and how large the volume of each is, in bytes. A later one takes the place of this. */
  addPods(pods: Pick<Informer<Pod>, 'list'>, sizeOf: (pod: Pod) => bigint): void;
  /** Those among them that are filled on their nodes. A later one takes the place of this. */
  addVolumes(volumes: Pick<Informer<Volume>, 'list'>): void;
}

const PHASES = ['Pending', 'Running', 'Succeeded', 'Failed'];

/** Data sources that were looked at, and volumes that were filled; KEP-1495's own names, whose conventions are theirs. */
export function populationMetrics(registry: Registry): PopulationMetrics {
  const registers = [registry];
  const verdicts = new Counter({
    registers,
    name: 'volume_data_source_validator_operation_count',
    help: 'Data sources of claims that were looked at, by what was found.',
    labelNames: ['result'],
  });
  const ends = new Counter({
    registers,
    name: 'volume_populator_operation_count',
    help: 'Pods and jobs on nodes that filled a volume, or failed to.',
    labelNames: ['operation_name', 'result'],
  });
  const durations = new Histogram({
    registers,
    name: 'volume_populator_operation_seconds',
    help: "From when a pod was made to when its volume was the claim's, or it had failed; without a pod, from when the Volume was made.",
    labelNames: ['operation_name', 'result'],
    buckets: [1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 36_000],
  });
  const filledBytes = new Counter({
    registers,
    name: 'stowage_populated_bytes_total',
    help: 'Sizes of the volumes that were filled.',
    labelNames: ['class'],
  });
  let pods: Pick<Informer<Pod>, 'list'> | undefined;
  let sizeOf = (_pod: Pod): bigint => 0n;
  let volumes: Pick<Informer<Volume>, 'list'> | undefined;
  /** The sizes of what is filled by pods in that phase; a job on a node counts as a pod that runs. */
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
    help: 'Pods that are there to fill a volume, and Volumes that their nodes fill: Running once they have a job, and do not wait for what they are filled from.',
    labelNames: ['phase'] as const,
    collect() {
      for (const phase of PHASES) this.set({ phase }, inFlight(phase).length);
    },
  });
  new Gauge({
    registers,
    name: 'stowage_populations_in_flight_bytes',
    help: 'Sizes of the volumes that those are to fill.',
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

/** As that of a pod would be; undefined for a Volume that nothing on its node fills, or that is filled. */
function fillPhase({ spec, status }: Volume): (typeof PHASES)[number] | undefined {
  if (spec.source?.populator == null || status?.prepared != null) return undefined;
  if (status?.phase === 'Failed') return 'Failed';
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const waits =
    ready?.reason === READY_REASON.waitingForSource || parseJobName(status?.job) === undefined;
  return waits ? 'Pending' : 'Running';
}

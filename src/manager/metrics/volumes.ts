import { Gauge, type Registry } from 'prom-client';
import type { Volume } from '../../api/volume.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Observed } from '../../storage/registry.ts';
import { label } from './label.ts';
import { createVolumeSpace } from './volume-space.ts';
import { countPhases, PHASES, sumDirectories, sumSizes } from './volume-sums.ts';

/**
 * Registers metrics of cached Volumes, and of their space by the last observations. Sizes are sums
 * per node and directory, since those fill up.
 */
export function volumeMetrics(
  registry: Registry,
  clock: { now(): number },
): (volumes: Informer<Volume>) => (volume: Volume, node: string, observed: Observed) => void {
  const space = createVolumeSpace(clock);
  let list = (): Volume[] => [];
  const registers = [registry];
  new Gauge({
    registers,
    name: 'stowage_volumes',
    help: 'Volumes by phase; Unknown are those that no daemon has observed yet.',
    labelNames: ['phase'] as const,
    collect() {
      const counts = countPhases(list());
      for (const phase of PHASES) this.set({ phase }, counts.get(phase) ?? 0);
    },
  });
  new Gauge({
    registers,
    name: 'stowage_volumes_size_bytes',
    help: 'Total size of provisioned Volumes, by node and by the directory of their files, or the volume group or thin pool of LVM; the directory is empty for raw devices.',
    labelNames: ['node', 'directory'] as const,
    collect() {
      this.reset();
      for (const { node, directory, bytes } of sumSizes(list())) {
        this.set({ node: label(node), directory: label(directory) }, bytes);
      }
    },
  });
  const free = new Gauge({
    registers,
    name: 'stowage_directory_free_bytes',
    help: 'Free space of the file system of a directory of Volumes, or of a volume group or thin pool; missing once its node was not observed for 5 minutes.',
    labelNames: ['node', 'directory'] as const,
    collect() {
      this.reset();
      allocated.reset();
      for (const sum of sumDirectories(space.of(list()))) {
        const labels = { node: label(sum.node), directory: label(sum.directory) };
        allocated.set(labels, sum.allocatedBytes);
        if (sum.freeBytes !== undefined) free.set(labels, sum.freeBytes);
      }
    },
  });
  // Set by the collector of `free`, which runs first.
  const allocated = new Gauge({
    registers,
    name: 'stowage_directory_allocated_bytes',
    help: 'Space that Volumes take in a directory, or in a volume group or thin pool; missing once its node was not observed for 5 minutes.',
    labelNames: ['node', 'directory'] as const,
  });
  return (volumes) => {
    list = () => volumes.list();
    volumes.onChange(({ type, object }) => {
      if (type === 'deleted') space.forget(object);
    });
    return (volume, node, observed) => {
      // Skip a Volume deleted during the observation: no event would drop it later.
      const { name, uid } = volume.metadata;
      if (volumes.get(name)?.metadata.uid === uid) space.observed(volume, node, observed);
    };
  };
}

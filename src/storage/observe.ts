import type { Probe } from '../nodes/job.ts';
import type { RunProbes } from './driver.ts';
import { type Desired, driverOf, type Observed } from './registry.ts';

export const firstProbes = (desired: Desired): readonly Probe[] =>
  driverOf(desired).probes(desired);

/**
 * Observes everything that plans for a volume depend on, in one round trip. Further ones read the
 * content of a device or of free extents.
 * @throws ObservationError for an answer that leaves open what is on the node: a missing tool, an
 * I/O error
 */
export const observe = (runProbes: RunProbes, desired: Desired): Promise<Observed> =>
  driverOf(desired).observe(runProbes, desired);

import type { Probe } from '../nodes/job.ts';
import type { Look } from './driver.ts';
import { type Desired, driverOf, type Observed } from './registry.ts';

/** What is looked at first. */
export const firstProbes = (desired: Desired): readonly Probe[] =>
  driverOf(desired).probes(desired);

/**
 * Looks at all that plans for a volume are made from: in one round trip, and in others for what is on a device
 * or is to become one.
 * @throws ObservationError for an answer that leaves open what is on the node: a missing tool, an I/O error
 */
export const observe = (look: Look, desired: Desired): Promise<Observed> =>
  driverOf(desired).observe(look, desired);

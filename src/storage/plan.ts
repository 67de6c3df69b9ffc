import { type Desired, driverOf, type Observed } from './registry.ts';
import type { Plan, VolumeOperation } from './types.ts';

/**
 * Returns the remaining steps of an operation, none if nothing remains, or a refusal. Pure: running
 * any prefix of the steps, observing and planning again leads to the same end.
 * @param loopNumber loop number to attach under if necessary, reserved for this Volume on this node
 * @throws Error for an observation of another kind than the desired state
 */
export const plan = (
  operation: VolumeOperation,
  desired: Desired,
  observed: Observed,
  loopNumber: number,
): Plan => driverOf(desired, observed).plan(operation, desired, observed, loopNumber);

/**
 * Plans the records that a node lacks before it treats storage made by MetalK8s as the Volume's.
 * The steps write only records; each first checks that the device is still the recognized one.
 * Refuses storage that is not recognized. Pure.
 * @throws Error for an observation of another kind than the desired state
 */
export const planMetalk8sRecords = (desired: Desired, observed: Observed): Plan =>
  driverOf(desired, observed).planMetalk8sRecords(desired, observed);

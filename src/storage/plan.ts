import { type Desired, driverOf, type Observed } from './registry.ts';
import type { Plan, VolumeOperation } from './types.ts';

/**
 * The remaining steps of an operation, nothing to do, or a refusal. Pure: running any prefix of the steps,
 * observing and planning again leads to the same end.
 * @param loopNumber the number to attach under if it comes to that, allotted to this Volume on this node
 * @throws Error for an observation of another kind than what is desired
 */
export const plan = (
  operation: VolumeOperation,
  desired: Desired,
  observed: Observed,
  loopNumber: number,
): Plan => driverOf(desired, observed).plan(operation, desired, observed, loopNumber);

/**
 * What remains to be recorded on a node until it knows as the Volume's what MetalK8s made for it. The steps write nothing
 * but records; each looks first whether the device still is the one that was recognised. A refusal for what is not. Pure.
 * @throws Error for an observation of another kind than what is desired
 */
export const planMetalk8sRecords = (desired: Desired, observed: Observed): Plan =>
  driverOf(desired, observed).planMetalk8sRecords(desired, observed);

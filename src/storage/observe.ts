import type { Probe, ProbeResult } from '../nodes/job.ts';
import { deviceProbes, leadsNowhere, rawProbes, readRaw } from './block/observe.ts';
import { readSparse, sparseProbes } from './loopfile/observe.ts';
import { lvmProbes, observeLvm } from './lvm/observe.ts';
import { readShared, sharedProbes } from './shared-fs/observe.ts';
import type { Desired, DesiredRaw, Observed, ObservedRaw } from './types.ts';
import { waitForPath } from './udev.ts';

/** Runs read-only commands on the node. */
type Look = (probes: readonly Probe[]) => Promise<Found>;
type Found = ReadonlyMap<string, ProbeResult>;

/** What is looked at first. */
export function firstProbes(desired: Desired): readonly Probe[] {
  if (desired.type === 'sparse') return [...sparseProbes(desired), ...sharedProbes(desired)];
  return desired.type === 'lvm' ? lvmProbes(desired) : rawProbes(desired);
}

/**
 * Looks at all that plans for a volume are made from: in one round trip, and in others for what is on a device
 * or is to become one.
 * @throws ObservationError for an answer that leaves open what is on the node: a missing tool, an I/O error
 */
export async function observe(look: Look, desired: Desired): Promise<Observed> {
  if (desired.type === 'lvm') return observeLvm(look, desired);
  const first = await look(firstProbes(desired));
  if (desired.type === 'sparse') {
    const sparse = readSparse(desired, first);
    const shared = readShared(desired, sparse.realPath, first);
    return shared === undefined ? sparse : { ...sparse, shared };
  }
  return observeRaw(look, desired, first);
}

/**
 * Looks once more for a device that is not there, after udev has made what it was about to make; and a third time for one that went
 * between two commands, as partitions do and come back while the kernel reads their table.
 */
async function observeRaw(look: Look, desired: DesiredRaw, early: Found): Promise<ObservedRaw> {
  const lookAgain = () => look([waitForPath(desired.devicePath), ...rawProbes(desired)]);
  let first = deviceProbes(early, desired).length > 0 ? early : await lookAgain();
  if (leadsNowhere(first, desired)) first = await lookAgain();
  const probes = deviceProbes(first, desired);
  return readRaw(desired, first, probes.length === 0 ? new Map() : await look(probes));
}

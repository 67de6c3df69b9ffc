import type { Precondition, Step } from '../nodes/job.ts';
import { preconditionsOf } from './detach-checks.ts';
import type { FoundDevice } from './driver.ts';
import { leaveMount } from './grow-file-system.ts';
import { linkOf } from './links.ts';
import type { Presence } from './presence.ts';
import { type Desired, driverOf, type Observed } from './registry.ts';
import type { LockOwner } from './shared-fs/types.ts';

/**
 * Functions for a volume's device on a node. Each throws Error for an observation of another kind
 * than the desired state.
 */

export interface VolumeDevice extends FoundDevice {
  /** Persistent path. */
  link: string;
}

export const deviceOf = (desired: Desired, observed: Observed): VolumeDevice => ({
  ...driverOf(desired, observed).device(desired, observed),
  link: linkOf(desired),
});

export const presenceOf = (desired: Desired, observed: Observed): Presence =>
  driverOf(desired, observed).presence(desired, observed);

/**
 * Requires that nothing on the node uses the volume. Checks mounts in any mount namespace, devices
 * made of it or stacked on it, swap, open files and the kubelet's directories. The commands only
 * read, so they can run before a step is submitted as well as right before it. If the device is
 * absent, only the check of the kubelet's directories remains.
 */
export const unusedPreconditions = (desired: Desired, observed: Observed): Precondition[] =>
  preconditionsOf(desired, driverOf(desired, observed).devices(desired, observed));

/**
 * Returns steps that unmount what an interrupted expansion left mounted; none if nothing is left.
 */
export const leftMounted = (desired: Desired, observed: Observed): readonly Step[] =>
  driverOf(desired, observed)
    .devices(desired, observed)
    .flatMap((each) => leaveMount(desired.uid, each, observed));

/**
 * Returns steps that make udev prefer a volume's device for the path that it derives from content.
 * None if that is not the volume's path, or the device is absent. Attaching does the same, but udev
 * creates such paths by itself, and earlier versions wrote no rules for them.
 */
export function preferDevice(desired: Desired, observed: Observed): Step[] {
  if (desired.earlierLink === undefined || desired.mode === 'Block' || !observed.udev) return [];
  return driverOf(desired, observed).prefer(desired, observed);
}

/** Returns the desired state for this access; unchanged for kinds that have no access to set. */
export const withAccess = (
  desired: Desired,
  access: { readOnly: boolean; owner: LockOwner },
): Desired => driverOf(desired).withAccess?.(desired, access) ?? desired;

/** Returns steps that end the population of an unwanted volume, beside the job that runs it. */
export const cancelFill = (desired: Desired): Step[] =>
  driverOf(desired).cancelFill?.(desired) ?? [];

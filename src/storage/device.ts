import type { Precondition, Step } from '../nodes/job.ts';
import { preconditionsOf } from './detach-checks.ts';
import type { FoundDevice } from './driver.ts';
import { leaveMount } from './grow-file-system.ts';
import { linkOf } from './links.ts';
import type { Presence } from './presence.ts';
import { type Desired, driverOf, type Observed } from './registry.ts';

/** What is known of a volume's device on a node. Each throws Error for an observation of another kind than what is desired. */

export interface VolumeDevice extends FoundDevice {
  /** Its persistent path. */
  link: string;
}

export const deviceOf = (desired: Desired, observed: Observed): VolumeDevice => ({
  ...driverOf(desired, observed).device(desired, observed),
  link: linkOf(desired),
});

/** Whether the volume's device is there. */
export const presenceOf = (desired: Desired, observed: Observed): Presence =>
  driverOf(desired, observed).presence(desired, observed);

/**
 * That nothing on the node uses the volume: no mount in any process's view, no device that is made of it or stacked on
 * it, no swap, no open file, no folder of the kubelet's. Each is a command that only reads, so it can be asked before a
 * step is submitted as well as right before it runs. Of a volume whose device is not there, the kubelet's folders remain.
 */
export const unusedPreconditions = (desired: Desired, observed: Observed): Precondition[] =>
  preconditionsOf(desired, driverOf(desired, observed).devices(desired, observed));

/** Takes off what an interrupted growing left mounted of it; no step where that is nothing. */
export const leftMounted = (desired: Desired, observed: Observed): readonly Step[] =>
  driverOf(desired, observed)
    .devices(desired, observed)
    .flatMap((each) => leaveMount(desired.uid, each, observed));

/**
 * Has udev prefer a volume's device for the path that it derives from content, if that is the volume's path and its device is there.
 * Attaching a volume does the same. But udev makes such paths by itself, and earlier versions wrote no rules for them.
 */
export function preferDevice(desired: Desired, observed: Observed): Step[] {
  if (desired.earlierLink === undefined || desired.mode === 'Block' || !observed.udev) return [];
  return driverOf(desired, observed).prefer(desired, observed);
}

/** Ends the filling of a volume that nobody wants any more, beside the job that is at it. */
export const cancelFill = (desired: Desired): Step[] =>
  driverOf(desired).cancelFill?.(desired) ?? [];

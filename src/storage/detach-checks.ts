import { refuse } from '../api/reasons.ts';
import type { Precondition } from '../nodes/job.ts';
import { leaveMount } from './grow-file-system.ts';
import { type Use, useBy, useOf } from './holders.ts';
import { preconditionsOfDevices } from './in-use.ts';
import { kubeletUse, notOfKubelet } from './kubelet.ts';
import type { BlockDevice, DesiredVolume, ObservedVolume, Plan } from './types.ts';

type Device = Pick<BlockDevice, 'name' | 'device'>;

/** That nothing uses the volume, whose devices these are. Not under a lock on one of them: whoever holds that has it open. */
export const preconditionsOf = (
  desired: DesiredVolume,
  devices: readonly Device[],
): Precondition[] => [...preconditionsOfDevices(devices), notOfKubelet(desired)];

/**
 * Of a device that is there as long as its disk is: nothing is to be done to detach it, but while it is in use it is
 * not detached.
 * @param devices those whose use is a use of the volume
 */
export function planUnused(
  desired: DesiredVolume,
  observed: ObservedVolume,
  devices: readonly Device[],
): Plan {
  const left = devices.flatMap((each) => leaveMount(desired.uid, each, observed));
  if (left.length > 0) return { steps: left };
  for (const each of devices) {
    const use = useOf(each, observed);
    if (use !== undefined) return inUse(`/dev/${each.name}`, use);
  }
  const uses = kubeletUse(observed.kubeletFolders);
  return uses === undefined
    ? { steps: [] }
    : { ...refuse('KubeletUsesVolume', { volume: desired.name, uses }), retryable: true };
}

/** Returns the kubelet's directories for a volume as a use of it; undefined where it has none. */
export function useOfKubelet(folders: readonly string[]): Use | undefined {
  const by = kubeletUse(folders);
  return by === undefined ? undefined : useBy(by, { kubelet: 'kubelet' });
}

export const inUse = (device: string, { by, ended }: Use): Plan => ({
  ...refuse('DeviceInUse', { device, uses: by, ...ended }),
  retryable: true,
});

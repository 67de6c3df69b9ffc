import { refuse } from '../api/reasons.ts';
import type { Precondition } from '../nodes/job.ts';
import { leaveMount } from './grow-file-system.ts';
import { type Use, useBy, useOf } from './holders.ts';
import { preconditionsOfDevices } from './in-use.ts';
import { kubeletUse, notOfKubelet } from './kubelet.ts';
import type { BlockDevice, DesiredVolume, ObservedVolume, Plan } from './types.ts';

type Device = Pick<BlockDevice, 'name' | 'device'>;

/**
 * Requires that nothing uses the volume on these devices. Do not check this under a lock on one of
 * the devices: the lock holder has it open.
 */
export const preconditionsOf = (
  desired: DesiredVolume,
  devices: readonly Device[],
): Precondition[] => [...preconditionsOfDevices(devices), notOfKubelet(desired)];

/**
 * Plans the detach of a device that stays as long as its disk does. Refuses while the device is in
 * use; otherwise at most removes a leftover mount.
 * @param devices devices whose use counts as use of the volume
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

/** Returns the kubelet's directories for a volume as a use of it; undefined if there are none. */
export function useOfKubelet(directories: readonly string[]): Use | undefined {
  const by = kubeletUse(directories);
  return by === undefined ? undefined : useBy(by, { kubelet: 'kubelet' });
}

export const inUse = (device: string, { by, ended }: Use): Plan => ({
  ...refuse('DeviceInUse', { device, uses: by, ...ended }),
  retryable: true,
});

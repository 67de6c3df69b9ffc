import type { Guard, Step } from '../nodes/job.ts';
import { targetOf } from './block/target.ts';
import { leaveMount } from './grow-file-system.ts';
import { ENDED_BY_KUBELET, type Use, useOf } from './holders.ts';
import { compareDevice } from './identity.ts';
import { guardsOfDevices } from './in-use.ts';
import { kubeletUse, notOfKubelet } from './kubelet.ts';
import { loopsOf, partitionOf } from './loopfile/loop.ts';
import { deviceOf, ownOf } from './lvm/ownership.ts';
import type { BlockDevice, Desired, Observed, Plan } from './types.ts';

type Device = Pick<BlockDevice, 'name' | 'device'>;

/**
 * That nothing on the node uses the volume: no mount in any process's view, no device that is made of it or stacked on
 * it, no swap, no open file, no folder of the kubelet's. Each is a command that only reads, so it can be asked before a
 * step is submitted as well as right before it runs. Of a volume whose device is not there, the kubelet's folders remain.
 * @throws Error for an observation of another kind than what is desired
 */
export const unusedGuards = (desired: Desired, observed: Observed): Guard[] =>
  guardsOf(desired, devicesOf(desired, observed));

/** The same for devices that are known. Not under a lock on one of them: whoever holds that has it open. */
export const guardsOf = (desired: Desired, devices: readonly Device[]): Guard[] => [
  ...guardsOfDevices(devices),
  notOfKubelet(desired),
];

/**
 * Takes off what an interrupted growing left mounted of it; no step where that is nothing.
 * @throws Error for an observation of another kind than what is desired
 */
export const leftMounted = (desired: Desired, observed: Observed): readonly Step[] =>
  devicesOf(desired, observed).flatMap((each) => leaveMount(desired.uid, each, observed));

/**
 * Of a device that is there as long as its disk is: nothing is to be done to detach it, but while it is in use it is
 * not detached.
 * @throws Error for an observation of another kind than what is desired
 */
export function planUnused(desired: Desired, observed: Observed): Plan {
  const left = leftMounted(desired, observed);
  if (left.length > 0) return { steps: left };
  for (const each of devicesOf(desired, observed)) {
    const use = useOf(each, observed);
    if (use !== undefined) return inUse(`/dev/${each.name}`, use);
  }
  const kubelet = useOfKubelet(observed.kubeletFolders);
  return kubelet === undefined ? { steps: [] } : inUse(`the volume ${desired.name}`, kubelet);
}

/** Returns the kubelet's directories for a volume as a use of it; undefined where it has none. */
export function useOfKubelet(folders: readonly string[]): Use | undefined {
  const by = kubeletUse(folders);
  return by === undefined ? undefined : { by, end: ENDED_BY_KUBELET };
}

export const inUse = (what: string, { by, end }: Use): Plan => ({
  refusal: `${what} is in use: ${by}`,
  hint: `It is detached once nothing uses it any more. ${end}`,
  passing: true,
});

/** Those of the volume, not the disk that it is a partition of, which others use. */
function devicesOf(desired: Desired, observed: Observed): readonly Device[] {
  if (desired.type === 'sparse' && observed.type === 'sparse') {
    return loopsOf(observed).flatMap((loop) => [loop, partitionOf(loop, observed) ?? []].flat());
  }
  if (desired.type === 'raw' && observed.type === 'raw') {
    const facts = targetOf(desired, observed);
    const recorded = desired.identity ?? observed.intent?.device?.identity;
    // What another disk that has its path by now is used for is no use of the volume.
    if (
      'refusal' in facts ||
      (recorded !== undefined && compareDevice({ identity: recorded }, facts) === 'different')
    )
      return [];
    const isPart = facts.partition !== undefined;
    // Others may use the disks of a partition.
    return [
      facts,
      ...facts.partitions,
      ...facts.otherPaths.filter(({ type }) => !isPart || type === 'part'),
    ];
  }
  if (desired.type === 'lvm' && observed.type === 'lvm') {
    const own = ownOf(desired, observed.volumes);
    const facts = own && deviceOf(observed, own);
    return facts === undefined ? [] : [facts, ...facts.partitions];
  }
  throw new Error(`a ${desired.type} volume was looked at as a ${observed.type} one`);
}

import { adoptsFrom } from '../adoption.ts';
import { planUnused } from '../detach-checks.ts';
import { compareDevice, updateIdentity } from '../device-identity.ts';
import type { RunProbes, VolumeDriver } from '../driver.ts';
import { presenceByPath } from '../presence.ts';
import { inOneJob } from '../steps.ts';
import type { DesiredRaw, ObservedRaw, Plan, VolumeOperation } from '../types.ts';
import { waitForPath } from '../udev.ts';
import { planAdopt } from './adopt.ts';
import { linked, makeLink, planAttach, volumeDevice } from './attach.ts';
import { planDelete } from './delete.ts';
import { planMetalk8sRecords } from './metalk8s.ts';
import { deviceProbes, leadsNowhere, rawProbes, readRaw } from './observe.ts';
import { planProvision } from './provision.ts';
import * as spec from './spec.ts';
import { targetOf } from './target.ts';

/** Driver of disks and partitions. */
export const raw: VolumeDriver<'rawBlockDevice', DesiredRaw, ObservedRaw> = {
  ...spec,
  type: 'raw',
  label: 'raw device',
  field: 'rawBlockDevice',
  onDelete: 'Retain',
  overwrites: true,
  sharable: false,
  place: ({ devicePath }) => devicePath,
  probes: rawProbes,
  observe,
  plan,
  planMetalk8sRecords: planMetalk8sRecords,
  device,
  devices,
  presence: (desired, observed) =>
    presenceByPath(planAttach(desired, observed), device(desired, observed).device?.name),
  prefer(desired, observed) {
    const found = targetOf(desired, observed);
    return 'refusal' in found ? [] : makeLink(desired, found, found.name, true);
  },
  madeBytes: () => 0n,
  // Kernel, udev and firmware change the format, and the next change is compared with this one.
  renewIdentity: (recorded, found) =>
    found.device !== undefined &&
    compareDevice({ identity: recorded }, { identity: found.identity }) === 'same'
      ? updateIdentity(recorded, found.identity)
      : recorded,
};

/**
 * Observes a missing device again, after udev has created what it was about to create. It observes
 * a third time if a device disappeared between two commands, as partitions do while the kernel
 * reads their table.
 */
async function observe(runProbes: RunProbes, desired: DesiredRaw): Promise<ObservedRaw> {
  const observeAgain = () => runProbes([waitForPath(desired.devicePath), ...rawProbes(desired)]);
  const early = await runProbes(rawProbes(desired));
  let first = deviceProbes(early, desired).length > 0 ? early : await observeAgain();
  if (leadsNowhere(first, desired)) first = await observeAgain();
  const probes = deviceProbes(first, desired);
  return readRaw(desired, first, probes.length === 0 ? new Map() : await runProbes(probes));
}

function plan(operation: VolumeOperation, desired: DesiredRaw, observed: ObservedRaw): Plan {
  switch (operation) {
    case 'provision': {
      const from = adoptsFrom(desired, observed);
      const ready =
        from === undefined ? planProvision(desired, observed) : planAdopt(desired, from, observed);
      return inOneJob(ready, (made) => {
        const found = targetOf(desired, observed);
        if ('refusal' in found) return found;
        // An existing link does not lead to what the steps make.
        return made.length === 0
          ? linked(desired, observed, found)
          : { steps: makeLink(desired, found, undefined) };
      });
    }
    case 'attach':
      return planAttach(desired, observed);
    // A disk is always present.
    case 'detach':
      return planUnused(desired, observed, devices(desired, observed));
    case 'delete':
      return planDelete(desired, observed);
  }
}

function device(desired: DesiredRaw, observed: ObservedRaw) {
  const found = targetOf(desired, observed);
  if ('refusal' in found) return { device: undefined, identity: '' };
  return { device: volumeDevice(desired, found), identity: found.identity };
}

function devices(desired: DesiredRaw, observed: ObservedRaw) {
  const found = targetOf(desired, observed);
  const recorded = desired.identity ?? observed.intent?.device?.identity;
  // Use of another disk that has its path by now is no use of the volume.
  if (
    'refusal' in found ||
    (recorded !== undefined && compareDevice({ identity: recorded }, found) === 'different')
  )
    return [];
  const isPart = found.partition !== undefined;
  // Others may use the disks of a partition.
  return [
    found,
    ...found.partitions,
    ...found.otherPaths.filter(({ type }) => !isPart || type === 'part'),
  ];
}

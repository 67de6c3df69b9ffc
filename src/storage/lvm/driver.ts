import { type Refused, refuse } from '../../api/reasons.ts';
import { adoptsFrom } from '../adoption.ts';
import { makeLink } from '../block/attach.ts';
import { planUnused } from '../detach-checks.ts';
import type { VolumeDriver } from '../driver.ts';
import { presenceByPath } from '../presence.ts';
import { cancelPath } from '../records.ts';
import type { DesiredLvm, DeviceFacts, ObservedLvm, Plan, VolumeOperation } from '../types.ts';
import { planAdopt } from './adopt.ts';
import { asRaw } from './as-raw.ts';
import { planAttach } from './attach.ts';
import { planDelete } from './delete.ts';
import { planMetalk8sRecords } from './metalk8s.ts';
import { lvPath } from './names.ts';
import { lvmProbes, observeLvm } from './observe.ts';
import { deviceOf, ownOf } from './ownership.ts';
import { planProvision } from './provision.ts';
import { inGroup } from './select.ts';
import * as spec from './spec.ts';

/** Driver of LVM logical volumes, in a thin pool or outside. */
export const lvm: VolumeDriver<'lvmLogicalVolume', DesiredLvm, ObservedLvm> = {
  ...spec,
  type: 'lvm',
  label: 'LVM volume',
  field: 'lvmLogicalVolume',
  onDelete: 'Retain',
  overwrites: true,
  sharable: false,
  place: lvPath,
  probes: lvmProbes,
  observe: observeLvm,
  plan: (operation, desired, observed) =>
    ofGroup(observed, planInGroup(operation, desired, observed)),
  planMetalk8sRecords: (desired, observed) =>
    refuseWithoutLvm(observed) ?? ofGroup(observed, planMetalk8sRecords(desired, observed)),
  device(desired, observed) {
    const device = ownDevice(desired, observed);
    return { device, identity: device?.identity ?? '' };
  },
  devices,
  presence(desired, observed) {
    const lack = refuseWithoutLvm(observed);
    if (lack !== undefined)
      return { is: 'unknown', message: lack.refusal, detail: lack.reason, noDevice: true };
    return presenceByPath(
      ofGroup(observed, planAttach(desired, observed)),
      ownDevice(desired, observed)?.name,
    );
  },
  prefer(desired, observed) {
    const device = ownDevice(desired, observed);
    return device === undefined ? [] : makeLink(asRaw(desired), device, device.name, true);
  },
  // The fill script ends once this file exists.
  cancelFill: ({ uid }) => [
    {
      name: 'stop populating the volume',
      argv: ['install', '-D', '-m', '0600', '/dev/null', cancelPath(uid)],
      preconditions: [],
    },
  ],
  madeBytes: ({ sizeBytes }) => sizeBytes,
};

function planInGroup(operation: VolumeOperation, desired: DesiredLvm, observed: ObservedLvm): Plan {
  const lack = refuseWithoutLvm(observed);
  if (lack !== undefined) {
    // The programs may have been removed, or the node reinstalled, after a Volume was provisioned.
    const isNothing = operation === 'delete' && desired.neverMade === true;
    return isNothing ? { steps: [] } : { ...lack, retryable: operation === 'delete' };
  }
  switch (operation) {
    case 'provision': {
      const from = adoptsFrom(desired, observed);
      return from === undefined
        ? planProvision(desired, observed)
        : planAdopt(desired, from, observed);
    }
    case 'attach':
      return planAttach(desired, observed);
    // The logical volume stays active, since no other node activates it.
    case 'detach':
      return planUnused(desired, observed, devices(desired, observed));
    case 'delete':
      return planDelete(desired, observed);
  }
}

/** Refuses work on a node without the programs of LVM. */
const refuseWithoutLvm = ({ lacksLvm }: ObservedLvm): Refused | undefined =>
  lacksLvm === undefined ? undefined : refuse('LVMMissing', { said: lacksLvm });

/** Restricts the plan to the group's disks. A plan without a group has no steps. */
function ofGroup({ groups: [group] }: ObservedLvm, planned: Plan): Plan {
  return group === undefined ? planned : inGroup(planned, group);
}

function ownDevice(desired: DesiredLvm, observed: ObservedLvm): DeviceFacts | undefined {
  const own = ownOf(desired, observed.volumes);
  return own && deviceOf(observed, own);
}

function devices(desired: DesiredLvm, observed: ObservedLvm) {
  const device = ownDevice(desired, observed);
  return device === undefined ? [] : [device, ...device.partitions];
}

import { refuse } from '../../api/reasons.ts';
import type { Step } from '../../nodes/job.ts';
import { astray, isMapperLink, linkOf } from '../links.ts';
import type { DesiredLvm, ObservedLvm, Plan } from '../types.ts';
import { makeRule, mapperKey, noUdev, waitForLink } from '../udev.ts';
import { activate } from './activate.ts';
import type { LogicalVolume } from './facts.ts';
import { refresh } from './lvchange.ts';
import { dmUuidOf, lvName } from './names.ts';
import { deviceOf } from './ownership.ts';
import { clearPool, poolOf } from './pool.ts';

/**
 * Returns the steps until a logical volume is readable, or why it cannot be; undefined if it is.
 * @param instead step that replaces the activation, and that also activates the volume if possible
 */
export function ensureActive(
  desired: DesiredLvm,
  observed: ObservedLvm,
  own: LogicalVolume,
  instead?: Step,
): Plan | undefined {
  const name = lvName(desired, own.name);
  if (own.health === 'p') {
    // Its disk may come late after the node has started.
    return { ...refuse('LogicalVolumePartial', { volume: name }), retryable: true };
  }
  const pool = poolOf(observed, own.pool);
  if (own.health === 'F' || pool?.health === 'F') {
    return refuse('ThinPoolOfVolumeFailed', { volume: name });
  }
  if (own.suspended) return { steps: [refresh(desired, own)] };
  // Writes to the pool's volumes block.
  if (pool?.suspended) return { steps: [refresh(desired, pool)] };
  if (!own.active) {
    const link = linkOf(desired);
    if (!observed.udev) return noUdev(link);
    const dmUuid = dmUuidOf(observed.groups[0]?.uuid ?? '', own.uuid);
    const rule = isMapperLink(desired) ? [] : makeRule(desired, mapperKey(dmUuid));
    // The kernel was observed before LVM, and may have had the device then.
    const device = observed.devices.find(({ mapper }) => mapper?.uuid === dmUuid);
    const cleared = own.pool === undefined ? [] : clearPool(desired, observed, own.pool);
    return {
      ...astray(desired, observed, device),
      steps: [
        ...cleared,
        ...rule,
        ...(instead === undefined
          ? [activate(desired, own), waitForLink(link, observed.link !== undefined)]
          : [instead]),
      ],
    };
  }
  return deviceOf(observed, own) === undefined
    ? { ...refuse('LogicalVolumeWithoutDevice', { volume: name }), retryable: true }
    : undefined;
}

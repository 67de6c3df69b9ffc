import { astray, isMapperLink, linkOf } from '../links.ts';
import type { DesiredLvm, ObservedLvm, Plan } from '../types.ts';
import { makeRule, mapperKey, noUdev, waitForLink } from '../udev.ts';
import { activate } from './activate.ts';
import type { LogicalVolume } from './facts.ts';
import { refresh } from './lvchange.ts';
import { dmUuidOf, lvName } from './names.ts';
import { deviceOf } from './ownership.ts';
import { clearPool, poolOf } from './pool.ts';

/** What must be done until a logical volume can be looked into, or why it can't; undefined when it can. */
export function ensureActive(
  desired: DesiredLvm,
  observed: ObservedLvm,
  own: LogicalVolume,
): Plan | undefined {
  const name = lvName(desired, own.name);
  if (own.health === 'p') {
    return {
      refusal: `a physical volume of the logical volume ${name} is away`,
      hint: 'Bring its disk back: pvs tells which one.',
      // It may come late after the node has started.
      retryable: true,
    };
  }
  const pool = poolOf(observed, own.pool);
  if (own.health === 'F' || pool?.health === 'F') {
    return {
      refusal: `the thin pool of the logical volume ${name} has failed`,
      hint: 'See lvmthin(7), on repair.',
    };
  }
  if (own.suspended) return { steps: [refresh(desired, own)] };
  // Whoever writes to a volume of it waits.
  if (pool?.suspended) return { steps: [refresh(desired, pool)] };
  if (!own.active) {
    const link = linkOf(desired);
    if (!observed.udev) return noUdev(link);
    const dmUuid = dmUuidOf(observed.groups[0]?.uuid ?? '', own.uuid);
    const rule = isMapperLink(desired) ? [] : makeRule(desired, mapperKey(dmUuid));
    // The kernel was asked before LVM was, and may have had the device then.
    const device = observed.devices.find(({ mapper }) => mapper?.uuid === dmUuid);
    const cleared = own.pool === undefined ? [] : clearPool(desired, observed, own.pool);
    return {
      ...astray(desired, observed, device),
      steps: [
        ...cleared,
        ...rule,
        activate(desired, own),
        waitForLink(link, observed.link !== undefined),
      ],
    };
  }
  return deviceOf(observed, own) === undefined
    ? {
        refusal: `the node has no device for the logical volume ${name}, which LVM says is active`,
        hint: `Look at it on the node: lvs ${name}; dmsetup info.`,
        retryable: true,
      }
    : undefined;
}

import type { DesiredRaw, DeviceFacts, ObservedRaw, Refusal } from '../types.ts';

/** The device that the path leads to, or why there is none. */
export function targetOf(
  { devicePath }: DesiredRaw,
  { target }: ObservedRaw,
): DeviceFacts | Refusal {
  switch (target.is) {
    case 'device':
      return target.facts;
    case 'missing':
      return {
        refusal: `there is no device ${devicePath} on the node`,
        hint: 'Check the path and the disk. Nothing is made on another device.',
      };
    case 'other':
      return {
        refusal: `${devicePath} is no disk, partition or logical volume but a ${target.what}`,
        hint: 'Give the path of a disk, a partition or a logical volume.',
      };
  }
}

import { refuse } from '../../api/reasons.ts';
import type { DesiredRaw, DeviceFacts, ObservedRaw, Refusal } from '../types.ts';

/** Returns the device that the path leads to, or why there is none. */
export function targetOf(
  { devicePath }: DesiredRaw,
  { target }: ObservedRaw,
): DeviceFacts | Refusal {
  switch (target.is) {
    case 'device':
      return target.facts;
    case 'missing':
      return refuse('DeviceMissing', { device: devicePath });
    case 'other':
      return refuse('NoBlockDevice', { path: devicePath, kind: target.what });
  }
}

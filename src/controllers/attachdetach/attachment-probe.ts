import { withHint } from '../../nodes/job-text.ts';
import { deviceOf } from '../../storage/device.ts';
import { loopsOf } from '../../storage/loopfile/loop.ts';
import { plan } from '../../storage/plan.ts';
import type { Desired, Observed } from '../../storage/types.ts';

/** Whether a volume's device is there, as a look at the node showed it. */
export type Presence =
  | {
      is: 'attached';
      readOnly: boolean;
      safeToMount: boolean;
      /** The kernel's name of it, while it is the device that it should be. */
      device: string | undefined;
      message: string | undefined;
    }
  | { is: 'detached' }
  /** `noDevice`: none has it, by what could be seen, which was not all. */
  | { is: 'unknown'; message: string; noDevice?: true };

/**
 * A sparse file is attached while any loop device has it, also one that is not as it should be, and while the node is named
 * beside a shared file as one that has it: no other node gets it before this one lets go. A disk or a logical volume is
 * where its persistent path leads to it.
 */
export function probeAttachment(desired: Desired, observed: Observed): Presence {
  const planned = plan('present', desired, observed, 0);
  const ready = !('refusal' in planned) && (planned.steps.length === 0 || planned.grows === true);
  const message = 'refusal' in planned ? withHint(planned.refusal, planned.hint) : planned.astray;
  const device = deviceOf(desired, observed).device?.name;
  if (desired.type !== 'sparse' || observed.type !== 'sparse') {
    return ready
      ? { is: 'attached', readOnly: false, safeToMount: true, device, message: undefined }
      : { is: 'detached' };
  }
  const [loop, ...others] = loopsOf(observed);
  if (loop === undefined) {
    // A record that is left holds nothing.
    const absent = plan('absent', desired, { ...observed, recordFiles: false }, 0);
    if ('refusal' in absent) {
      return { is: 'unknown', message: withHint(absent.refusal, absent.hint), noDevice: true };
    }
    if (absent.steps.length === 0) return { is: 'detached' };
    const held = `no device has ${desired.file}, but it is still held for this node`;
    return {
      is: 'attached',
      readOnly: desired.readOnly,
      safeToMount: false,
      device,
      message: message ?? held,
    };
  }
  // Neither attached nor detached: it goes when its last user closes it.
  if (loop.autoclear)
    return { is: 'unknown', message: message ?? `/dev/${loop.name} goes with its last user` };
  const readOnly = [loop, ...others].every((each) => each.readOnly);
  return { is: 'attached', readOnly, safeToMount: ready, device, message };
}

import type { Reason } from '../api/reasons.ts';
import type { Plan } from './types.ts';

/** Presence of a volume's device on a node, by an observation. */
export type Presence =
  | {
      is: 'attached';
      readOnly: boolean;
      safeToMount: boolean;
      /** Kernel name of the device, while it is the expected one. */
      device: string | undefined;
      message: string | undefined;
      /** The reason of the message. */
      detail?: Reason | undefined;
    }
  | { is: 'detached' }
  /** `noDevice`: no device was found for the volume, but not everything could be observed. */
  | { is: 'unknown'; message: string; detail?: Reason | undefined; noDevice?: true };

/** Reports whether the volume is usable now. `planned`: the plan for `attach`. */
export const isReady = (planned: Plan): boolean =>
  !('refusal' in planned) && (planned.steps.length === 0 || planned.grows === true);

/**
 * Returns the presence of a device that needs no attaching: it is attached if its persistent path
 * leads to it.
 */
export const presenceByPath = (planned: Plan, device: string | undefined): Presence =>
  isReady(planned)
    ? { is: 'attached', readOnly: false, safeToMount: true, device, message: undefined }
    : { is: 'detached' };

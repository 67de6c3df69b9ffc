import type { Reason } from '../api/reasons.ts';
import type { Plan } from './types.ts';

/** Whether a volume's device is there, as a look at the node showed it. */
export type Presence =
  | {
      is: 'attached';
      readOnly: boolean;
      safeToMount: boolean;
      /** The kernel's name of it, while it is the device that it should be. */
      device: string | undefined;
      message: string | undefined;
      /** The reason of the message. */
      detail?: Reason | undefined;
    }
  | { is: 'detached' }
  /** `noDevice`: none has it, by what could be seen, which was not all. */
  | { is: 'unknown'; message: string; detail?: Reason | undefined; noDevice?: true };

/** Whether nothing remains to be done until the volume can be used. `planned`: what remains for `attach`. */
export const isReady = (planned: Plan): boolean =>
  !('refusal' in planned) && (planned.steps.length === 0 || planned.grows === true);

/** A device that is there by itself is where its persistent path leads to it. */
export const presenceByPath = (planned: Plan, device: string | undefined): Presence =>
  isReady(planned)
    ? { is: 'attached', readOnly: false, safeToMount: true, device, message: undefined }
    : { is: 'detached' };

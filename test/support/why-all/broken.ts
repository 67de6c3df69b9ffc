import type { Reason } from '../../../src/cli/why/reasons.ts';
import type { Following, WhyOutput } from '../why.ts';
import type { Scene } from './scene.ts';

/** Broken object, and what a person does in addition to the output of `why --all`. */
export interface Broken {
  cause: Reason;
  /** Object with the cause: `Kind name`, or `Kind namespace/name`. */
  root: string;
  /** Blocked objects. Default: only the root. */
  objects?: readonly string[];
  /** Creates the objects before the failure. */
  sound?(at: Scene): Promise<unknown>;
  breaks(at: Scene): Promise<unknown>;
  /** Carries out the manual part of the fix, before the printed commands. */
  person?(at: Scene, said: WhyOutput): Promise<unknown>;
  /**
   * Completes the printed commands. `false`: these commands only show a state, or are alternatives.
   */
  follow?: Following | false;
  /** Carries out what a person does after the printed commands. */
  after?(at: Scene): Promise<unknown>;
  /** Next cause, and the object that it then blocks. Its fix is followed as printed. */
  next?: readonly [cause: Reason, object: string];
}

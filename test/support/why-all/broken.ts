import type { Reason } from '../../../src/cli/why/reasons.ts';
import type { Following, Said } from '../why.ts';
import type { Scene } from './scene.ts';

/** A thing that is broken, and what a person does beside what `why --all` prints of it. */
export interface Broken {
  cause: Reason;
  /** The object that it is found at: `Kind name`, or `Kind namespace/name`. */
  root: string;
  /** Those that it holds up, where that is not the root alone. */
  objects?: readonly string[];
  /** Makes what is there before it breaks. */
  sound?(at: Scene): Promise<unknown>;
  breaks(at: Scene): Promise<unknown>;
  /** Does by hand what the fix tells a person to, before the lines that are printed. */
  person?(at: Scene, said: Said): Promise<unknown>;
  /** Completes the lines; `false`: they only show what is there, or are one of several ways. */
  follow?: Following | false;
  /** Does what a person does once they have run. */
  after?(at: Scene): Promise<unknown>;
  /** The cause that holds an object up after that. Its fix is followed as it is printed. */
  next?: readonly [cause: Reason, object: string];
}

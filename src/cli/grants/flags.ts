import type { CreateFlags } from '../lib/objects/flags.ts';
import type { GrantedTo } from '../lib/objects/grant-kinds.ts';

export interface GrantFlags extends CreateFlags {
  to: string;
  for?: GrantedTo;
}
/** One of a namespace, or all. */

export interface Snapshots {
  /** Where it is said. */
  namespace?: string;
  /** undefined: all. */
  name: string | undefined;
}

import type { CreateFlags } from '../lib/objects/flags.ts';
import type { GrantedTo } from '../lib/objects/grant-kinds.ts';

export interface GrantFlags extends CreateFlags {
  to: string;
  for?: GrantedTo;
}
/** Snapshot, or all snapshots of a namespace. */

export interface Snapshots {
  /** Namespace, if given with the name. */
  namespace?: string;
  /** undefined means all. */
  name: string | undefined;
}

import type { GetFlags } from '../lib/get/resource-view.ts';
import type { NodeFlags } from '../lib/nodes/flags.ts';

/** Flags of `stowage top`. */
export interface TopFlags extends GetFlags, NodeFlags {
  /** Timeout for each node, in ms. */
  timeout: number;
}

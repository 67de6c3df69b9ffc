import type { CreateFlags, WaitFlags } from '../../lib/objects/flags.ts';
import type { NamespacedName } from '../../lib/parse.ts';

export interface RestoreFlags extends CreateFlags, WaitFlags {
  to: NamespacedName;
  /** A quantity. */
  size?: string;
  storageClass?: string;
  accessMode?: string[];
  mode?: 'Filesystem' | 'Block';
}

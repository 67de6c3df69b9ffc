import type { Builtin, PopulatorEnv } from '../../api/populator.ts';
import type { CreateFlags } from '../lib/objects/flags.ts';

export interface RegisterFlags extends CreateFlags {
  group?: string;
  kind?: string;
  /** Without it, `node`. */
  image?: string;
  /** What fills volumes on their node; the kind is its own unless another one is named. */
  node?: Builtin;
  command?: string[];
  arg?: string[];
  env?: PopulatorEnv[];
  secret?: { name: string; mountPath: string }[];
  serviceAccount?: string;
  request?: Record<string, string>;
  limit?: Record<string, string>;
  mountPath?: string;
  devicePath?: string;
  apiVersion?: string;
  resource?: string;
  clusterScoped?: boolean;
}

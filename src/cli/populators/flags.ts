import type { Toleration } from '../../api/core.ts';
import type { Builtin, Capability, PopulatorEnv } from '../../api/populator.ts';
import type { CreateFlags } from '../lib/objects/flags.ts';

export interface RegisterFlags extends CreateFlags {
  group?: string;
  kind?: string;
  /** Required without `node`. */
  image?: string;
  /** Built-in populator on the node, for its own kind unless another one is given. */
  node?: Builtin;
  command?: string[];
  arg?: string[];
  env?: PopulatorEnv[];
  secret?: { name: string; mountPath: string }[];
  serviceAccount?: string;
  request?: Record<string, string>;
  limit?: Record<string, string>;
  /** User ID; 0 is root. */
  runAsUser?: number;
  capability?: Capability[];
  toleration?: Toleration[];
  nodeSelector?: Record<string, string>;
  mountPath?: string;
  devicePath?: string;
  apiVersion?: string;
  resource?: string;
  clusterScoped?: boolean;
}

import { CORE_KINDS } from './builtin/core.ts';
import { CSI_KINDS } from './builtin/csi.ts';
import { RBAC_KINDS } from './builtin/rbac.ts';
import { STORAGE_KINDS } from './builtin/storage.ts';
import { WORKLOAD_KINDS } from './builtin/workloads.ts';
import type { Kind } from './kind.ts';

/** Built-in kinds, typed only as strictly as users of the sandbox require. */
export const BUILTIN_KINDS: Kind[] = [
  ...CORE_KINDS,
  ...STORAGE_KINDS,
  ...CSI_KINDS,
  ...WORKLOAD_KINDS,
  ...RBAC_KINDS,
];

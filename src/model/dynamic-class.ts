import type { StorageClass } from '../api/core.ts';
import { directoryWanted } from '../api/directory.ts';
import { FS_TYPES, isFsType } from '../api/file-systems.ts';
import { isLvmName, LVM_NAME } from '../api/lvm-name.ts';
import type { AttachPolicy } from '../api/volume.ts';
import { systemDirectoryOf } from '../storage/directory/system.ts';
import { SPARSE_DIRECTORY } from '../storage/loopfile/file.ts';
import { checkMkfsOptions } from '../storage/mkfs-options.ts';
import { FS_TYPE_PARAMETERS, fsTypeOf, isFsTypeParameter } from './class-options.ts';

export type StorageLocation =
  | { type: 'sparse'; directory: string; requireMount?: true }
  /** `overwrite`: what removed volumes left in free extents of the group may be destroyed. */
  | { type: 'lvm'; vgName: string; thinPool: string | undefined; overwrite?: true };

/**
 * Options of a storage class for volumes of claims, without those of the file system, which are
 * read when a volume is provisioned (`fileSystemProblem`).
 */
export interface DynamicClass {
  place: StorageLocation;
  /** Directory of sparse files, as in the class; undefined: the default one. */
  directory: string | undefined;
  /** Ratio of promised space to existing space, at most. At least 1. */
  overcommit: number;
  onDelete: 'Delete' | 'Retain';
  /** Overwrites the data of a volume before it is deleted. */
  wipe?: true;
  /** Policy in the class; unset: the Volume's default. */
  attachPolicy?: AttachPolicy;
  /** True if a volume is provisioned only once a pod is scheduled. */
  waits: boolean;
}

/** Parameter for the consent to destroy what removed volumes left in free extents of the group. */
export const OVERWRITE_PARAMETER = 'overwriteFreeExtents';

/** Parameter for overwriting the data of a deleted volume. */
export const ON_DELETE_PARAMETER = 'onDelete';

/** Parameter for the time at which devices are attached. */
export const ATTACH_POLICY_PARAMETER = 'attachPolicy';

const PARAMETERS = [
  ...[
    'type',
    'directory',
    'requireMount',
    'vgName',
    'thinPool',
    ...FS_TYPE_PARAMETERS,
    'mkfsOptions',
    'overcommit',
  ],
  ...[OVERWRITE_PARAMETER, ON_DELETE_PARAMETER, ATTACH_POLICY_PARAMETER],
];

/** Returns the checked options of a class, or why they are unusable. */
export function dynamicClass(storageClass: StorageClass): DynamicClass | { problem: string } {
  const { metadata, parameters = {}, reclaimPolicy, volumeBindingMode } = storageClass;
  const bad = (problem: string) => ({ problem: `storage class ${metadata.name}: ${problem}` });
  const unknown = Object.keys(parameters).find(
    (name) => !PARAMETERS.includes(name) && !isFsTypeParameter(name),
  );
  if (unknown !== undefined) {
    return bad(
      `unknown parameter ${JSON.stringify(unknown)}. Known parameters: ${PARAMETERS.join(', ')}`,
    );
  }
  const place = placeOf(parameters);
  if ('problem' in place) return bad(place.problem);
  const overcommit = Number(parameters.overcommit ?? 1);
  if (!/^\d+(\.\d+)?$/.test(parameters.overcommit ?? '1') || overcommit < 1 || overcommit > 1000) {
    return bad(
      `parameter overcommit is ${JSON.stringify(parameters.overcommit)}, but must be a number from 1 to 1000`,
    );
  }
  if (overcommit > 1 && place.type === 'lvm' && place.thinPool === undefined) {
    return bad(
      'parameter overcommit is not for logical volumes outside a thin pool, which allocate their full size at once',
    );
  }
  const { [ON_DELETE_PARAMETER]: onDelete } = parameters;
  if (onDelete !== undefined && onDelete !== 'Delete' && onDelete !== 'Wipe') {
    return bad(
      `parameter ${ON_DELETE_PARAMETER} is ${JSON.stringify(onDelete)}, but must be Delete (the default) or Wipe. To keep the data, set reclaimPolicy Retain`,
    );
  }
  const { [ATTACH_POLICY_PARAMETER]: attachPolicy } = parameters;
  if (attachPolicy !== undefined && attachPolicy !== 'Always' && attachPolicy !== 'OnDemand') {
    return bad(
      `parameter ${ATTACH_POLICY_PARAMETER} is ${JSON.stringify(attachPolicy)}, but must be Always (the default) or OnDemand`,
    );
  }
  return {
    place,
    directory: parameters.directory,
    overcommit,
    onDelete: reclaimPolicy === 'Retain' ? 'Retain' : 'Delete',
    ...(onDelete === 'Wipe' ? { wipe: true as const } : {}),
    ...(attachPolicy === undefined ? {} : { attachPolicy }),
    waits: volumeBindingMode === 'WaitForFirstConsumer',
  };
}

/** Returns what is wrong with the file system of a class. A claim of mode Block gets none. */
export function fileSystemProblem({ metadata, parameters = {} }: StorageClass): string | undefined {
  const { mkfsOptions = '[]' } = parameters;
  const found = fsTypeOf(parameters);
  if ('problem' in found) return `storage class ${metadata.name}: ${found.problem}`;
  const { type: fsType, parameter } = found;
  if (!isFsType(fsType)) {
    return `storage class ${metadata.name}: parameter ${parameter} is ${JSON.stringify(fsType)}, but must be ${FS_TYPES.join(' or ')}`;
  }
  const checked = checkMkfsOptions(fsType, parsed(mkfsOptions));
  return 'problem' in checked
    ? `storage class ${metadata.name}: parameter mkfsOptions: ${checked.problem}`
    : undefined;
}

/** Parses JSON. Invalid JSON is returned as text, and then refused like any other non-list. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Returns the rule that the directory of a class breaks; undefined if none. Only the node itself
 * follows symbolic links.
 */
export function classDirectoryWanted(directory: string): string | undefined {
  const system = systemDirectoryOf(directory);
  return (
    directoryWanted(directory) ??
    (system && `be outside of ${system}, such as below /var/lib/stowage or /srv`)
  );
}

function placeOf(parameters: Record<string, string>): StorageLocation | { problem: string } {
  const {
    type = 'sparse',
    directory,
    requireMount,
    vgName,
    thinPool,
    [OVERWRITE_PARAMETER]: overwrite,
  } = parameters;
  const misplaced = (name: string) => ({ problem: `parameter ${name} is not for type ${type}` });
  if (type === 'sparse') {
    if (vgName !== undefined) return misplaced('vgName');
    if (thinPool !== undefined) return misplaced('thinPool');
    if (overwrite !== undefined) return misplaced(OVERWRITE_PARAMETER);
    const wanted = directory === undefined ? undefined : classDirectoryWanted(directory);
    if (wanted !== undefined) {
      return { problem: `parameter directory is ${JSON.stringify(directory)}, but must ${wanted}` };
    }
    if (requireMount !== undefined && !['true', 'false'].includes(requireMount)) {
      return {
        problem: `parameter requireMount is ${JSON.stringify(requireMount)}, but must be true or false`,
      };
    }
    return {
      ...{ type, directory: directory ?? SPARSE_DIRECTORY },
      ...(requireMount === 'true' ? { requireMount: true } : {}),
    };
  }
  if (type !== 'lvm') {
    return {
      problem: `parameter type is ${JSON.stringify(type)}, but must be sparse (the default) or lvm: disks cannot be provisioned for claims`,
    };
  }
  if (directory !== undefined) return misplaced('directory');
  if (requireMount !== undefined) return misplaced('requireMount');
  if (vgName === undefined || !isLvmName(vgName)) {
    return {
      problem: `parameter vgName is ${JSON.stringify(vgName ?? '')}, but must be ${LVM_NAME}`,
    };
  }
  if (thinPool !== undefined && !isLvmName(thinPool)) {
    return {
      problem: `parameter thinPool is ${JSON.stringify(thinPool)}, but must be ${LVM_NAME}`,
    };
  }
  if (overwrite !== undefined && overwrite !== 'true' && overwrite !== 'false') {
    return {
      problem: `parameter ${OVERWRITE_PARAMETER} is ${JSON.stringify(overwrite)}, but must be "true" or "false"`,
    };
  }
  if (overwrite === 'true' && thinPool !== undefined) {
    return {
      problem: `parameter ${OVERWRITE_PARAMETER} is not for a thin pool, whose new extents read as zeros`,
    };
  }
  return { type, vgName, thinPool, ...(overwrite === 'true' ? { overwrite: true } : {}) };
}

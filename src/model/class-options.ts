import type { StorageClass } from '../api/core.ts';
import { DEFAULT_FS_TYPE, FS_TYPES, type FsType, isFsType } from '../api/file-systems.ts';
import type { VolumeMode } from '../api/volume.ts';
import { checkMkfsOptions } from '../storage/mkfs-options.ts';

export interface ClassOptions {
  /** undefined for a Block volume, which gets no file system. */
  fs: { type: FsType; options: string[] } | undefined;
  mountOptions: string[];
}

/** Parameters with the type of the file system: MetalK8s's, and that of CSI provisioners. */
export const FS_TYPE_PARAMETERS = ['fsType', 'csi.storage.k8s.io/fstype'] as const;

const [OWN, CSI] = FS_TYPE_PARAMETERS.map((name) => name.toLowerCase());

/**
 * Reports whether the parameter states the type of the file system, in any spelling:
 * external-provisioner compares in lower case, and a type that is overlooked becomes ext4.
 */
export const isFsTypeParameter = (name: string): boolean => [OWN, CSI].includes(name.toLowerCase());

/** Type of the file system as in the parameters; `parameter`: as spelled, unless by default. */
export type StatedFsType = { type: string; parameter?: string } | { problem: string };

/**
 * Returns the type of the file system as in the parameters, or that they contradict each other. As
 * in external-provisioner, an empty parameter of CSI states no type. Pure.
 */
export function fsTypeOf(parameters: Readonly<Record<string, string>>): StatedFsType {
  const isCsi = (name: string): boolean => name.toLowerCase() === CSI;
  const stated = Object.entries(parameters)
    .filter(([name, type]) => isFsTypeParameter(name) && !(isCsi(name) && type === ''))
    .sort(([a], [b]) => Number(isCsi(a)) - Number(isCsi(b)));
  const [first] = stated;
  if (first === undefined) return { type: DEFAULT_FS_TYPE };
  const [parameter, type] = first;
  const other = stated.find(([, each]) => each !== type);
  return other === undefined
    ? { type, parameter }
    : {
        problem: `parameters ${parameter} and ${other[0]} differ: ${JSON.stringify(type)} and ${JSON.stringify(other[1])}`,
      };
}

/** Returns the options of a class, or why they are unusable. The parameters are MetalK8s's. */
export function checkClass(
  { metadata, parameters = {}, mountOptions = [] }: StorageClass,
  mode: VolumeMode = 'Filesystem',
): ClassOptions | { problem: string } {
  if (mode === 'Block') return { fs: undefined, mountOptions: [] };
  // MetalK8s fails without a type (a KeyError). Its documentation uses ext4, the kubelet's default.
  const fsType = fsTypeOf(parameters);
  if ('problem' in fsType) return { problem: `storage class ${metadata.name}: ${fsType.problem}` };
  const { type, parameter } = fsType;
  if (!isFsType(type)) {
    return {
      problem: `unsupported filesystem: ${type} (parameter ${parameter} of storage class ${metadata.name}; supported are ${FS_TYPES.join(' and ')})`,
    };
  }
  const checked = checkMkfsOptions(type, parseList(parameters.mkfsOptions ?? '[]'));
  if ('problem' in checked) {
    return {
      problem: `parameter mkfsOptions of storage class ${metadata.name}: ${checked.problem}`,
    };
  }
  return { fs: { type, options: checked.options }, mountOptions };
}

/** Parses JSON. Invalid JSON is returned as text, and then refused like any other non-list. */
function parseList(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

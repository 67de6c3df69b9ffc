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

/** Returns the type of the file system as in the parameters, or that they contradict each other. */
export function fsTypeOf(
  parameters: Record<string, string>,
): { type: string } | { problem: string } {
  const [own, csi] = FS_TYPE_PARAMETERS;
  const { [own]: type = parameters[csi] ?? DEFAULT_FS_TYPE, [csi]: ofCsi = type } = parameters;
  return type === ofCsi
    ? { type }
    : {
        problem: `parameters ${own} and ${csi} differ: ${JSON.stringify(type)} and ${JSON.stringify(ofCsi)}`,
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
  const { type } = fsType;
  if (!isFsType(type)) {
    return {
      problem: `unsupported filesystem: ${type} (parameter fsType of storage class ${metadata.name}; supported are ${FS_TYPES.join(' and ')})`,
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

import type { StorageClass } from '../../api/core.ts';
import type { FsType } from '../../api/file-systems.ts';
import { DEFAULT_CLASS_ANNOTATION, DRIVER, NO_PROVISIONER } from '../../api/names.ts';
import type { AttachPolicy } from '../../api/volume.ts';

export interface ClassFlags {
  fsType: FsType;
  mkfsOptions?: string[];
  mountOptions?: string[];
  default?: boolean;
}

/** What volumes of a dynamic class are made of. */
export interface DynamicFlags extends ClassFlags {
  type: 'sparse' | 'lvm';
  directory?: string;
  requireMount?: true;
  vg?: string;
  thinPool?: string;
  overwriteFreeExtents?: boolean;
  reclaimPolicy: 'Delete' | 'Retain';
  onDelete?: 'Delete' | 'Wipe';
  attachPolicy?: AttachPolicy;
}

/** A class for Volumes that are made by hand. */
export function staticClass(name: string, flags: ClassFlags): StorageClass {
  return {
    ...common(name, flags),
    provisioner: NO_PROVISIONER,
    parameters: fileSystem(flags),
    // Nobody would carry out another policy: Kubernetes cannot delete local volumes, and their PersistentVolumes,
    // which are Stowage's, are Retain. What becomes of the data is said by the Volume's onDelete.
    reclaimPolicy: 'Retain',
  };
}

/** A class whose claims make their own Volumes. */
export function dynamicClass(name: string, flags: DynamicFlags): StorageClass {
  const { type, directory, requireMount, vg, thinPool, overwriteFreeExtents, reclaimPolicy } =
    flags;
  const { onDelete, attachPolicy } = flags;
  return {
    ...common(name, flags),
    provisioner: DRIVER,
    parameters: {
      type,
      ...(directory === undefined ? {} : { directory }),
      ...(requireMount && { requireMount: 'true' }),
      ...(vg === undefined ? {} : { vgName: vg }),
      ...(thinPool === undefined ? {} : { thinPool }),
      ...(onDelete === undefined ? {} : { onDelete }),
      ...(attachPolicy === undefined ? {} : { attachPolicy }),
      ...(overwriteFreeExtents ? { overwriteFreeExtents: 'true' } : {}),
      ...fileSystem(flags),
    },
    reclaimPolicy,
    allowVolumeExpansion: true,
  };
}

function common(
  name: string,
  flags: ClassFlags,
): Pick<StorageClass, 'apiVersion' | 'kind' | 'metadata' | 'mountOptions' | 'volumeBindingMode'> {
  const { mountOptions } = flags;
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {
      name,
      ...(flags.default && { annotations: { [DEFAULT_CLASS_ANNOTATION]: 'true' } }),
    },
    ...(mountOptions && { mountOptions }),
    // A volume is on one node: a claim that is bound before its pod is scheduled may keep the pod from every node.
    volumeBindingMode: 'WaitForFirstConsumer',
  };
}

/** A list as a string, as MetalK8s has it: parameters are strings. */
const fileSystem = ({ fsType, mkfsOptions }: ClassFlags): Record<string, string> => ({
  fsType,
  ...(mkfsOptions && { mkfsOptions: JSON.stringify(mkfsOptions) }),
});

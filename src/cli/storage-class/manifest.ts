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

/** Storage of a dynamic class's volumes. */
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

/** Returns a class for Volumes that are created by hand. */
export function staticClass(name: string, flags: ClassFlags): StorageClass {
  return {
    ...common(name, flags),
    provisioner: NO_PROVISIONER,
    parameters: fileSystem(flags),
    // Another policy would have no effect: Kubernetes cannot delete local volumes, and their
    // PersistentVolumes, which are Stowage's, are Retain. The Volume's onDelete decides on the
    // data.
    reclaimPolicy: 'Retain',
  };
}

/** Returns a class whose claims create their own Volumes. */
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
    // A claim bound before its pod is scheduled may leave no node for the pod.
    volumeBindingMode: 'WaitForFirstConsumer',
  };
}

/** Returns parameters, which are strings: a list is encoded as a string, as in MetalK8s. */
const fileSystem = ({ fsType, mkfsOptions }: ClassFlags): Record<string, string> => ({
  fsType,
  ...(mkfsOptions && { mkfsOptions: JSON.stringify(mkfsOptions) }),
});

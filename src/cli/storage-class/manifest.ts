import type { StorageClass } from '../../api/core.ts';
import { DEFAULT_CLASS_ANNOTATION, NO_PROVISIONER } from '../../api/names.ts';

export interface ClassFlags {
  fsType: 'ext4' | 'xfs';
  mkfsOptions?: string[];
  mountOptions?: string[];
  default?: boolean;
}

/** A class for Volumes that are made by hand. */
export function staticClass(name: string, flags: ClassFlags): StorageClass {
  const { fsType, mkfsOptions, mountOptions } = flags;
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name, ...(flags.default && { annotations: { [DEFAULT_CLASS_ANNOTATION]: 'true' } }) },
    provisioner: NO_PROVISIONER,
    // A list as a string, as MetalK8s has it: parameters are strings.
    parameters: { fsType, ...(mkfsOptions && { mkfsOptions: JSON.stringify(mkfsOptions) }) },
    ...(mountOptions && { mountOptions }),
    // Nobody would carry out another policy: Kubernetes cannot delete local volumes, and their PersistentVolumes,
    // which are Stowage's, are Retain. What becomes of the data is said by the Volume's onDelete.
    reclaimPolicy: 'Retain',
    // A volume is on one node: a claim that is bound before its pod is scheduled may keep the pod from every node.
    volumeBindingMode: 'WaitForFirstConsumer',
  };
}

import type { KubeObject } from './meta.ts';

/** The few fields of built-in kinds that Stowage reads or writes. */

export interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
}

export interface PersistentVolume extends KubeObject {
  spec: {
    capacity: { storage: string };
    accessModes: string[];
    persistentVolumeReclaimPolicy?: string;
    storageClassName?: string;
    volumeMode?: string;
    mountOptions?: string[];
    local?: { path: string; fsType?: string };
    nodeAffinity?: unknown;
    claimRef?: ObjectReference;
  };
  status?: { phase?: 'Pending' | 'Available' | 'Bound' | 'Released' | 'Failed'; message?: string };
}

export interface StorageClass extends KubeObject {
  provisioner: string;
  parameters?: Record<string, string>;
  mountOptions?: string[];
  reclaimPolicy?: string;
  volumeBindingMode?: string;
}

export interface KubeNode extends KubeObject {
  status?: { conditions?: { type: string; status: string }[] };
}

export interface KubeEvent extends KubeObject {
  involvedObject: ObjectReference;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  count: number;
  firstTimestamp: string;
  lastTimestamp: string;
  source: { component: string };
  reportingComponent: string;
  reportingInstance: string;
}

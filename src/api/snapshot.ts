import type { ObjectReference } from './core.ts';
import type { KubeObject } from './meta.ts';

/** The standard objects of snapshots (snapshot.storage.k8s.io/v1), as their CRDs have them. */

export type DeletionPolicy = 'Delete' | 'Retain';

export interface SnapshotError {
  time?: string;
  message?: string;
}

export interface VolumeSnapshot extends KubeObject {
  spec: {
    /** One of these. */
    source: { persistentVolumeClaimName?: string; volumeSnapshotContentName?: string };
    volumeSnapshotClassName?: string;
  };
  status?: {
    boundVolumeSnapshotContentName?: string;
    creationTime?: string;
    readyToUse?: boolean;
    /** A quantity. */
    restoreSize?: string;
    error?: SnapshotError;
  };
}

export interface VolumeSnapshotContent extends KubeObject {
  spec: {
    volumeSnapshotRef: ObjectReference;
    deletionPolicy: DeletionPolicy;
    driver: string;
    /** One of these. The handle of a volume is the name of a Volume. */
    source: { volumeHandle?: string; snapshotHandle?: string };
    volumeSnapshotClassName?: string;
    sourceVolumeMode?: string;
  };
  status?: {
    snapshotHandle?: string;
    /** ns since the epoch. */
    creationTime?: number;
    /** Bytes. */
    restoreSize?: number;
    readyToUse?: boolean;
    error?: SnapshotError;
  };
}

export interface VolumeSnapshotClass extends KubeObject {
  driver: string;
  deletionPolicy: DeletionPolicy;
  parameters?: Record<string, string>;
}

/** Another namespace's snapshot under a name of one's own (KEP-3294). */
export interface VolumeSnapshotLink extends KubeObject {
  /** Without a namespace, or with an empty one: the link's own. */
  spec: { source: { name: string; namespace?: string } };
}

/** gateway.networking.k8s.io: who may refer to what is in the grant's namespace. */
export interface ReferenceGrant extends KubeObject {
  spec: {
    /** Groups have no version; '' is core. */
    from: { group: string; kind: string; namespace: string }[];
    /** No name, or an empty one: all of that kind. */
    to: { group: string; kind: string; name?: string }[];
  };
}

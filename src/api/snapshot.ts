import type { ObjectReference } from './core.ts';
import type { KubeObject } from './meta.ts';

/** Standard kinds of snapshots (snapshot.storage.k8s.io/v1), as in their CRDs. */

export type DeletionPolicy = 'Delete' | 'Retain';

export interface SnapshotError {
  time?: string;
  message?: string;
}

export interface VolumeSnapshot extends KubeObject {
  spec: {
    /** Exactly one of these. */
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
    /** Exactly one of these. The handle of a volume is the name of a Volume. */
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

/** Snapshot of another namespace under a local name (KEP-3294). */
export interface VolumeSnapshotLink extends KubeObject {
  /** Without a namespace, or with an empty one, the link's own applies. */
  spec: { source: { name: string; namespace?: string } };
}

/** Permission to refer to objects in the grant's namespace (gateway.networking.k8s.io). */
export interface ReferenceGrant extends KubeObject {
  spec: {
    /** Groups have no version; the core group is empty. */
    from: { group: string; kind: string; namespace: string }[];
    /** Without a name, or with an empty one, all objects of the kind. */
    to: { group: string; kind: string; name?: string }[];
  };
}

import type { KubeObject } from './meta.ts';
import type { Prepared, VolumeSpec, VolumeStatus } from './volume.ts';

/** Fields of a Volume's spec that determine what is removed, and how. */
export const KEPT_FIELDS = [
  'storageClassName',
  'mode',
  'onDelete',
  'attachPolicy',
  'attachableNodes',
  'adopt',
  'sparseLoopDevice',
  'rawBlockDevice',
  'lvmLogicalVolume',
] as const;

/**
 * Remains of a Volume on a node that was lost when the Volume was deleted.
 * The name is the Volume's UID.
 */
export interface Leftover extends KubeObject {
  spec: LeftoverSpec;
  status?: LeftoverStatus;
}

export interface LeftoverSpec extends Pick<VolumeSpec, (typeof KEPT_FIELDS)[number]> {
  /** Node that has the remains. */
  nodeName: string;
  volumeName: string;
  /** UID of the Volume. */
  uid: string;
  /** Fields as in the Volume's status. */
  prepared?: Prepared;
  job?: string;
  attempt?: number;
}

/** Status as of a Volume; `phase` is Terminating or Failed. */
export type LeftoverStatus = Pick<
  VolumeStatus,
  'phase' | 'conditions' | 'job' | 'attempt' | 'observedGeneration'
>;

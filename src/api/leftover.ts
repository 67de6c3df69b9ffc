import type { KubeObject } from './meta.ts';
import type { Prepared, VolumeSpec, VolumeStatus } from './volume.ts';

/** The parts of a Volume's spec that say what is to be removed, and how. */
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

/** What is left of a Volume on a node that was lost when the Volume was deleted. Its name is the Volume's UID. */
export interface Leftover extends KubeObject {
  spec: LeftoverSpec;
  status?: LeftoverStatus;
}

export interface LeftoverSpec extends Pick<VolumeSpec, (typeof KEPT_FIELDS)[number]> {
  /** The node that it is on. */
  nodeName: string;
  volumeName: string;
  /** Of the Volume. */
  uid: string;
  /** The rest is as the Volume's status had it. */
  prepared?: Prepared;
  job?: string;
  attempt?: number;
}

/** As a Volume's; `phase` is Terminating or Failed. */
export type LeftoverStatus = Pick<
  VolumeStatus,
  'phase' | 'conditions' | 'job' | 'attempt' | 'observedGeneration'
>;

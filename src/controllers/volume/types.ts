import type { PersistentVolume, StorageClass } from '../../api/core.ts';
import type { Leftover } from '../../api/leftover.ts';
import type { READY_REASON } from '../../api/names.ts';
import type { Reason, Refused } from '../../api/reasons.ts';
import type { Volume, VolumeStatus } from '../../api/volume.ts';
import type { VolumeSource } from '../../model/desired-volume.ts';
import type { Job, JobState } from '../../nodes/job.ts';
import type { Observed } from '../../storage/registry.ts';
import type { NodeHold } from '../../storage/shared-fs/types.ts';

/** What a node said, or why nothing is known. The latter never counts as "not there" or "failed". */
export type Answer<T> = { known: T } | Unknown;

export interface Unknown {
  /** Why, for a person. */
  unknown: string;
  /** The node does not answer or does not let us in; or it answered, and nothing safe follows from what it said. */
  reason: typeof READY_REASON.nodeUnreachable | typeof READY_REASON.nodeUnclear;
  detail?: Reason | undefined;
}

/** All that a decision about one Volume is made from. */
export interface Input {
  volume: Volume;
  /** That work on the Volume runs on now. */
  node: string;
  /** The PersistentVolume of the Volume's name, whoever made it. */
  pv: PersistentVolume | undefined;
  /** The class of the Volume's spec, as the cache has it. */
  storageClass: StorageClass | undefined;
  /** The same as the API server has it, if it was asked just now. */
  liveClass: { found: StorageClass | undefined } | undefined;
  /** What the Volume starts from, if that was read just now. */
  source?: VolumeSource | undefined;
  /** The problem of the Volume's adoption, if the API server was asked just now. */
  adoption?: { problem: Refused | undefined } | undefined;
  /** The PersistentVolume as the API server has it, if it was asked just now. */
  livePv: { found: PersistentVolume | undefined } | undefined;
  /**
   * Of the job that `status.job` names, if it was asked for since that name was written; `assumed`: it was not, for the
   * name was written just now.
   */
  job: (Answer<JobState> & { assumed?: true }) | undefined;
  /** Of the node, if it was looked at since anything was last done there. */
  observation: Answer<Observed> | undefined;
  /** Of those who had a shared file then: whose machines somebody vouches are off, by the API server. Default: nobody's. */
  dead?: readonly NodeHold[];
  /**
   * Whether the node's jobs of this Volume were removed, if that was tried since `status.job` was written; false where
   * one of them still runs.
   */
  forgotten: boolean | undefined;
  /** Why the API server refused the PersistentVolume, if it did so just now; `retryable`: whoever may allow it may do so. */
  pvRefused: { why: string; retryable: boolean } | undefined;
  /** The job that fills the Volume was told to end, if that was done just now. */
  cancelled?: boolean | undefined;
  /** Whether the file system of the directory was to be recorded just now. */
  directoryRecorded?: boolean | undefined;
  /** Whether udev was told to prefer the Volume's device for its path, by this process since the node booted. */
  pathPreferred?: boolean | undefined;
  /** When the node was last looked at by this process since it booted, ms since the epoch. */
  observedAt: number | undefined;
  /** Loop numbers on the node that are promised to other Volumes. */
  allotted: ReadonlySet<number>;
  /** Whether the controller runs that attaches and detaches devices. */
  attachmentEnabled: boolean;
  /** Whether it attaches or detaches the Volume on the node just now, or did, and has not written that yet. Default: false. */
  isMoving?: boolean;
  /** The kubelet's root folder there, where that is not the usual one. */
  kubeletRoot?: string | undefined;
  /** Which object says that nothing may be written there: `Node n1`. */
  paused: string | undefined;
  /** Somebody vouches that the machine is off: the out-of-service taint, and the Node is not Ready. Default: false. */
  off?: boolean;
  /** Of a Volume whose node is forgotten: whether the API server keeps a Leftover of it, if that was tried just now. */
  kept: { as: string } | { problem: string } | undefined;
}

export interface EventToSend {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  detail?: Reason | undefined;
}

/** One effect. After it, everything is read and decided again. */
export type Action =
  | { do: 'add-finalizer' }
  /** Replaces the status. */
  | { do: 'set-status'; status: VolumeStatus; event?: EventToSend }
  /** Reads the class of the Volume's spec from the API server. */
  | { do: 'read-class' }
  /** Reads the PersistentVolume of the Volume's name from the API server. */
  | { do: 'read-pv' }
  /** Reads what the Volume starts from. */
  | { do: 'read-source' }
  /** Reads what can speak against the Volume's adoption of storage. */
  | { do: 'read-claimants' }
  | { do: 'observe' }
  | { do: 'poll' }
  /** Under the key of `status.job`. `loopNumber` is what the steps attach under, if they do. */
  | { do: 'submit'; steps: Job['steps']; loopNumber: number }
  /** Ends the job that fills the Volume, by steps beside it. */
  | { do: 'cancel'; steps: Job['steps'] }
  /** Records the file system of the Volume's directory, by steps of which no status tells: to run them again does nothing. */
  | { do: 'record-directory'; steps: Job['steps'] }
  /** Has udev prefer the Volume's device for its path, by steps that can run again at any time. */
  | { do: 'prefer-path'; steps: Job['steps'] }
  /** Removes what the node keeps of the Volume's jobs. */
  | { do: 'forget-jobs' }
  | { do: 'create-pv'; pv: PersistentVolume }
  /** `capacity` is a quantity. */
  | { do: 'grow-pv'; capacity: string }
  | { do: 'delete-pv' }
  /** Writes down what the Volume leaves on its node. */
  | { do: 'keep-leftover'; leftover: Leftover }
  | { do: 'release-pv' }
  | { do: 'release-volume' };

/** At most one action; without one, when to decide again if nothing changes before. */
export interface Decision {
  action?: Action;
  /** The job runs: decide again once it has ended. */
  follow?: true;
  /** ms */
  requeueAfter?: number;
  /** Decide again after a delay that grows each time. */
  retry?: true;
}

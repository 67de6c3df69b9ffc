import type { PersistentVolume, StorageClass } from '../../api/core.ts';
import type { Leftover } from '../../api/leftover.ts';
import type { READY_REASON } from '../../api/names.ts';
import type { Reason, Refused } from '../../api/reasons.ts';
import type { Volume, VolumeStatus } from '../../api/volume.ts';
import type { VolumeSource } from '../../model/desired-volume.ts';
import type { HostnameLabels } from '../../model/hostname-label.ts';
import type { PausedObject } from '../../model/pause.ts';
import type { Job, JobState } from '../../nodes/job.ts';
import type { Observed } from '../../storage/registry.ts';
import type { NodeHold } from '../../storage/shared-fs/types.ts';

/** Response of a node, or why it is unknown. Unknown never counts as "not there" or "failed". */
export type Answer<T> = { known: T } | Unknown;

export interface Unknown {
  /** Reason as text for users. */
  unknown: string;
  /**
   * Unreachable: the node does not answer or refuses access. Unclear: its response allows no safe
   * conclusion.
   */
  reason: typeof READY_REASON.nodeUnreachable | typeof READY_REASON.nodeUnclear;
  detail?: Reason | undefined;
}

/** Input of a decision about one Volume. */
export interface Input {
  volume: Volume;
  /** Node that runs the Volume's work now. */
  node: string;
  /** Returns the hostname labels by which an affinity selects the named nodes and no other. */
  hostnamesOf: (nodes: readonly string[]) => HostnameLabels;
  /** The PersistentVolume with the Volume's name, of any owner. */
  pv: PersistentVolume | undefined;
  /** The class of the Volume's spec, from the cache. */
  storageClass: StorageClass | undefined;
  /** The class of the Volume's spec, if just read from the API server. */
  liveClass: { found: StorageClass | undefined } | undefined;
  /** The Volume's source, if just read. */
  source?: VolumeSource | undefined;
  /** The problem of the Volume's adoption, if just read from the API server. */
  adoption?: { problem: Refused | undefined } | undefined;
  /** The PersistentVolume, if just read from the API server. */
  livePv: { found: PersistentVolume | undefined } | undefined;
  /**
   * State of the job that `status.job` names, if polled since that name was written. `assumed`: not
   * polled, since the name was written just now.
   */
  job: (Answer<JobState> & { assumed?: true }) | undefined;
  /** Observation of the node, if made since the last change there. */
  observation: Answer<Observed> | undefined;
  /**
   * Holders of a shared file in that observation whose machines an operator declared off, from the
   * API server. Default: none.
   */
  dead?: readonly NodeHold[];
  /**
   * Result of removing the node's jobs of this Volume, if tried since `status.job` was written;
   * false if a job still runs.
   */
  forgotten: boolean | undefined;
  /**
   * Why the API server refused the PersistentVolume just now; `retryable`: permissions may change.
   */
  pvRefused: { why: string; retryable: boolean } | undefined;
  /** The job that populates the Volume was canceled just now. */
  cancelled?: boolean | undefined;
  /** A job to record the file system of the directory was submitted just now. */
  directoryRecorded?: boolean | undefined;
  /**
   * A job made udev prefer the device for its path since the node booted, or was tried just now.
   */
  pathPreferred?: boolean | undefined;
  /** Time of the last observation by this process since the node booted, ms since the epoch. */
  observedAt: number | undefined;
  /** Loop numbers on the node that are promised to other Volumes. */
  allotted: ReadonlySet<number>;
  /** The attachment controller runs. */
  attachmentEnabled: boolean;
  /**
   * The attachment controller is attaching or detaching the Volume on the node, or has not written
   * the result yet. Default: false.
   */
  isMoving?: boolean;
  /** Root directory of the kubelet on the node, unless the default. */
  kubeletRoot?: string | undefined;
  /** Object that pauses all writes on the node. */
  paused: PausedObject | undefined;
  /**
   * An operator declared the machine off: out-of-service taint, and the Node is not Ready. Default:
   * false.
   */
  off?: boolean;
  /** For a Volume whose node is forgotten: whether a Leftover was created, if tried just now. */
  kept: { as: string } | { problem: string } | undefined;
}

export interface EventToSend {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  detail?: Reason | undefined;
}

/** A single action. Everything is read and decided again after it. */
export type Action =
  | { do: 'add-finalizer' }
  /** Replaces the status, except its attachments. */
  | { do: 'set-status'; status: VolumeStatus; event?: EventToSend }
  /** Reads the class of the Volume's spec from the API server. */
  | { do: 'read-class' }
  /** Reads the PersistentVolume of the Volume's name from the API server. */
  | { do: 'read-pv' }
  /** Reads the Volume's source. */
  | { do: 'read-source' }
  /** Reads the objects that may prevent the Volume's adoption of storage. */
  | { do: 'read-claimants' }
  | { do: 'observe' }
  | { do: 'poll' }
  /**
   * Submits steps under the key of `status.job`. `loopNumber`: number for a loop device that the
   * steps attach.
   */
  | { do: 'submit'; steps: Job['steps']; loopNumber: number }
  /** Cancels the job that populates the Volume, by steps beside it. */
  | { do: 'cancel'; steps: Job['steps'] }
  /**
   * Records the file system of the Volume's directory, by idempotent steps that no status reports.
   */
  | { do: 'record-directory'; steps: Job['steps'] }
  /** Makes udev prefer the Volume's device for its path, by idempotent steps. */
  | { do: 'prefer-path'; steps: Job['steps'] }
  /** Removes the node's records of the Volume's jobs. */
  | { do: 'forget-jobs' }
  | { do: 'create-pv'; pv: PersistentVolume }
  /** `capacity` is a quantity. */
  | { do: 'grow-pv'; capacity: string }
  | { do: 'delete-pv' }
  /** Creates a Leftover for what the Volume leaves on its node. */
  | { do: 'keep-leftover'; leftover: Leftover }
  | { do: 'release-pv' }
  | { do: 'release-volume' };

/**
 * Result of a decision: at most one action; without one, when to reconcile again if nothing changes
 * before.
 */
export interface Decision {
  action?: Action;
  /** The job runs: reconcile again once it has ended. */
  watch?: true;
  /** Delay in ms. */
  requeueAfter?: number;
  /** Reconcile again with backoff. */
  retry?: true;
}

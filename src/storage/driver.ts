import type { Explanation } from '../api/reasons.ts';
import type { SnapshotHandle } from '../api/snapshot-handle.ts';
import type { Volume, VolumeSpec } from '../api/volume.ts';
import type { Probe, ProbeResult, Step } from '../nodes/job.ts';
import type { Presence } from './presence.ts';
import type { LockOwner } from './shared-fs/types.ts';
import type {
  BlockDevice,
  DesiredVolume,
  ObservedVolume,
  Plan,
  Source,
  ThinSource,
  VolumeOperation,
} from './types.ts';

/** Runs read-only commands on the node. */
export type RunProbes = (probes: readonly Probe[]) => Promise<ReadonlyMap<string, ProbeResult>>;

/** Input from which a driver derives its desired state. */
export interface DesiredContext {
  volume: Volume;
  /** Fields that all kinds share. */
  common: DesiredVolume;
  /** Node that the work runs on. */
  node: string;
  /** Path of the provisioned storage; undefined before it is provisioned. */
  path: string | undefined;
  /** Requested size (bytes) in whole blocks; 0 if the spec has no valid size. */
  sizeBytes: bigint;
  /** Source of the copy, while the volume is provisioned. */
  from: Source | ThinSource | undefined;
  /** True if the volume is provisioned for a claim, whose UID is in its name. */
  isForClaim: boolean;
}

/** Device of a volume, as observed on a node. */
export interface FoundDevice {
  /** Undefined while the device is absent. */
  device: Pick<BlockDevice, 'name' | 'sizeBytes'> | undefined;
  /** Identity that tells the storage from other storage at its path. */
  identity: string;
}

/**
 * Driver of one kind of storage. Each method is a pure function except `observe`, which runs
 * read-only commands. The registry has one object per kind (docs/extending.md adds one).
 */
export interface VolumeDriver<
  Field extends string,
  D extends DesiredVolume & { type: string },
  O extends ObservedVolume & { type: string },
> {
  readonly type: D['type'] & O['type'];
  /** Name of the kind, as it follows the article `a` or `an`. */
  readonly label: string;
  /** Field of a Volume's spec that requests the kind. */
  readonly field: Field;
  /** Treatment of the data on deletion if the Volume sets none. */
  readonly onDelete: 'Delete' | 'Retain';
  /**
   * True if volumes are provisioned where other data may exist, so that `spec.overwrite` applies.
   */
  readonly overwrites: boolean;
  /** True if several nodes may attach a volume, so that `spec.attachableNodes` applies. */
  readonly sharable: boolean;

  /**
   * Returns the problems of its field of the spec, each with the field, the value and what is
   * valid.
   */
  specProblems(volume: Volume): string[];
  /** Reports whether its field names a valid place for the storage, which is immutable then. */
  hasPlace(spec: VolumeSpec): boolean;
  desired(context: DesiredContext): D;
  /** Returns the lines of `describe volume` for its field, besides the kind and the size. */
  describe(spec: VolumeSpec): [label: string, value: string | undefined][];
  /** Describes what is provisioned, for a user who is about to create the Volume. */
  summarize(spec: VolumeSpec): string;
  /**
   * Names the storage of the data for users. `own`: created for the Volume, and deleted with it.
   * `path`: place of the provisioned storage.
   */
  holdsData(spec: VolumeSpec, path: string | undefined): { what: string; own: boolean };
  /**
   * Names the place whose content `spec.overwrite` consents to destroy; only if `overwrites` is
   * true.
   */
  overwritten?(spec: VolumeSpec): string;
  /**
   * Reports whether a volume exposes data of earlier volumes in its bytes. Unset: volumes never do.
   */
  exposesOldData?(spec: VolumeSpec): boolean;
  /**
   * Returns a command that shows the available space on the node; only for kinds that share space.
   */
  roomCommand?(spec: VolumeSpec): string[];
  /**
   * Returns the pool of its space, as metrics name it; only for kinds that share space. `path`:
   * place of the provisioned storage.
   */
  pool?(spec: VolumeSpec, path: string | undefined): string | undefined;
  /**
   * Returns the spec that finds storage provisioned at the path, independent of the present default
   * place. Unset: the spec needs no change.
   */
  specAt?(spec: VolumeSpec, path: string): VolumeSpec;
  /** Returns the path on the node that is recorded as the place of the storage. */
  place(desired: D): string;
  /** Reports whether Stowage records this path for this Volume. It wrote no other recorded path. */
  isPlaceOf(volume: Volume, path: string): boolean;

  /** Returns the first probes of an observation. */
  probes(desired: D): readonly Probe[];
  /** @throws ObservationError for an answer that leaves open what is on the node */
  observe(runProbes: RunProbes, desired: D): Promise<O>;
  /** @param loopNumber number of the loop device to attach under, if necessary */
  plan(operation: VolumeOperation, desired: D, observed: O, loopNumber: number): Plan;
  /**
   * Plans the records that a node lacks before it treats storage made by MetalK8s as the Volume's.
   */
  planMetalk8sRecords(desired: D, observed: O): Plan;
  device(desired: D, observed: O): FoundDevice;
  /**
   * Returns the devices whose use counts as use of the volume: not the disk of a partition, which
   * others use.
   */
  devices(desired: D, observed: O): readonly Pick<BlockDevice, 'name' | 'device'>[];
  presence(desired: D, observed: O): Presence;
  /**
   * Returns steps that make udev prefer the volume's device for a path that it derives from
   * content.
   */
  prefer(desired: D, observed: O): Step[];
  /**
   * Returns why the volume cannot start from the source; undefined if it can. Only for kinds that
   * support `spec.source`.
   */
  startProblem?(spec: VolumeSpec, from: Source | ThinSource): string | undefined;
  /** Returns the volume as the source of another; only for kinds that can be copied. */
  asSource?(desired: D): Source | ThinSource;
  /**
   * Returns the place of a snapshot, by the UID of its content; only for kinds that have snapshots.
   * `nodes`: nodes that reach the volume.
   */
  snapshotPlace?(
    desired: D,
    nodes: readonly string[],
    contentUid: string,
  ): SnapshotHandle | Explanation;
  /**
   * Returns the desired state for an attach or detach with this access; only for kinds that
   * `sharable` allows on several nodes. `owner`: the node, and a token of this attempt alone.
   */
  withAccess?(desired: D, access: { readOnly: boolean; owner: LockOwner }): D;
  /**
   * Returns steps that end the population of an unwanted volume, beside the job that runs it; only
   * for kinds that are populated.
   */
  cancelFill?(desired: D): Step[];
  /** Returns the size (bytes) of storage that is provisioned and not attached. */
  madeBytes(desired: D, observed: O): bigint;
  /**
   * Returns the recorded identity, in its present format if the device is known to be the same;
   * only for kinds whose format changes.
   */
  renewIdentity?(recorded: string, found: FoundDevice): string;
}

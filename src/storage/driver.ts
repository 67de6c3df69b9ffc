import type { Explanation } from '../api/reasons.ts';
import type { SnapshotHandle } from '../api/snapshot-handle.ts';
import type { Volume, VolumeSpec } from '../api/volume.ts';
import type { Probe, ProbeResult, Step } from '../nodes/job.ts';
import type { Presence } from './presence.ts';
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
export type Look = (probes: readonly Probe[]) => Promise<ReadonlyMap<string, ProbeResult>>;

/** What a kind makes its part of `Desired` from. */
export interface DesiredContext {
  volume: Volume;
  /** What is the same for every kind. */
  common: DesiredVolume;
  /** The node that the work runs on. */
  node: string;
  /** Where the volume was made; undefined while it is not. */
  path: string | undefined;
  /** What was asked for, in whole blocks; 0 for what is no size. Bytes. */
  sizeBytes: bigint;
  /** What it is made as a copy of, while it is made. */
  from: Source | ThinSource | undefined;
  /** It is made for a claim, by whose UID it is named. */
  isForClaim: boolean;
}

/** The device that is the volume, as a node shows it. */
export interface FoundDevice {
  /** undefined while it is not there. */
  device: Pick<BlockDevice, 'name' | 'sizeBytes'> | undefined;
  /** What tells the storage from another of its path. */
  identity: string;
}

/**
 * One kind of storage: all that Stowage asks of it. Each is a pure function but `observe`, which runs commands that only read.
 * A kind is one object like this in the registry (docs/extending.md adds one).
 */
export interface VolumeDriver<
  Field extends string,
  D extends DesiredVolume & { type: string },
  O extends ObservedVolume & { type: string },
> {
  readonly type: D['type'] & O['type'];
  /** What it is called, after the article `a` or `an`. */
  readonly label: string;
  /** The field of a Volume's spec that asks for the kind. */
  readonly field: Field;
  /** What becomes of the data of a Volume that does not say. */
  readonly onDelete: 'Delete' | 'Retain';
  /** It is made where something else may be yet, so that `spec.overwrite` is for it. */
  readonly overwrites: boolean;
  /** Several nodes may attach it, so that `spec.attachableNodes` is for it. */
  readonly sharable: boolean;

  /** What is wrong with its field of the spec, each naming the field, what was found and what is wanted. */
  specProblems(volume: Volume): string[];
  /** Whether its field names a file or device, which it then does for good. */
  hasPlace(spec: VolumeSpec): boolean;
  desired(context: DesiredContext): D;
  /** What `describe volume` shows of its field, beside the kind and the size. */
  describe(spec: VolumeSpec): [label: string, value: string | undefined][];
  /** What is made for it, for who is about to create it. */
  summarize(spec: VolumeSpec): string;
  /** What holds the data, for a person; `own`: it is made for the Volume, and goes with it. `path`: where it was made. */
  holdsData(spec: VolumeSpec, path: string | undefined): { what: string; own: boolean };
  /** Where there may be something that `spec.overwrite` gives leave to destroy; of a kind that it is for. */
  overwritten?(spec: VolumeSpec): string;
  /** Whether bytes that the volume gets show what earlier volumes left there. Unset: they never do. */
  exposesOldData?(spec: VolumeSpec): boolean;
  /** The command that shows on its node what room there is for it; of a kind that takes room from something. */
  roomCommand?(spec: VolumeSpec): string[];
  /** The pool that its room is taken from, as metrics call it; `path`: where it was made. Of a kind that takes room from something. */
  pool?(spec: VolumeSpec, path: string | undefined): string | undefined;
  /** The spec that finds what was made at the path, whatever the default place is by then. Unset: as it is. */
  specAt?(spec: VolumeSpec, path: string): VolumeSpec;
  /** The path on the node that is recorded as the place of what was made. */
  place(desired: D): string;
  /** Whether Stowage records that path for that Volume: anything else there was not written by it. */
  isPlaceOf(volume: Volume, path: string): boolean;

  /** What is looked at first. */
  probes(desired: D): readonly Probe[];
  /** Throws ObservationError for an answer that leaves open what is on the node. */
  observe(look: Look, desired: D): Promise<O>;
  /** @param loopNumber the number of a loop device to attach under, if it comes to that */
  plan(operation: VolumeOperation, desired: D, observed: O, loopNumber: number): Plan;
  /** The records that are missing on a node until it knows as the Volume's what MetalK8s made for it. */
  planMetalk8sRecords(desired: D, observed: O): Plan;
  device(desired: D, observed: O): FoundDevice;
  /** Those whose use is a use of the volume: not the disk that it is a partition of, which others use. */
  devices(desired: D, observed: O): readonly Pick<BlockDevice, 'name' | 'device'>[];
  presence(desired: D, observed: O): Presence;
  /** Has udev prefer the volume's device for a path that udev derives from content. */
  prefer(desired: D, observed: O): Step[];
  /** Why it cannot start from that; undefined: it can. Of a kind that can have content from the start, so that `spec.source` is for it. */
  startProblem?(spec: VolumeSpec, from: Source | ThinSource): string | undefined;
  /** A volume as what another starts from; of a kind that can be copied. */
  asSource?(desired: D): Source | ThinSource;
  /** Where a snapshot of it is to be, by the UID of its content; of a kind that has snapshots. `nodes`: those that reach the volume. */
  snapshotPlace?(
    desired: D,
    nodes: readonly string[],
    contentUid: string,
  ): SnapshotHandle | Explanation;
  /** Ends the filling of a volume that nobody wants any more, beside the job that is at it; of a kind that is filled. */
  cancelFill?(desired: D): Step[];
  /** The size of what was made and is not attached, in bytes. */
  madeBytes(desired: D, observed: O): bigint;
  /** The recorded identity, in its present spelling where the device is known to be the one; of a kind whose spelling changes. */
  renewIdentity?(recorded: string, found: FoundDevice): string;
}

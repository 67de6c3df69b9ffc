import type {
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../api/core.ts';
import type { Explanation } from '../../api/reasons.ts';
import type { Volume, VolumeSpec } from '../../api/volume.ts';
import type { Awaited } from '../../model/data-source/types.ts';
import type { DynamicClass, StorageLocation } from '../../model/dynamic-class.ts';
import type { Room } from '../lib/capacity/capacity-cache.ts';
import type { EventToSend } from '../lib/event.ts';

/** Claim that was bound; without `ms`, a failed attempt to provision its volume. */
export interface Provisioned {
  storageClass: string;
  source: 'none' | 'snapshot' | 'claim' | 'link';
  crossNamespace: boolean;
  /** Time since its Volume was created. */
  ms?: number;
}

/** Resolved data source of a claim, or why the claim waits. */
export type ClaimStart =
  | { is: 'none' }
  /** `nodes`: nodes that have the data; undefined if it comes from elsewhere. */
  | {
      is: 'ready';
      source: NonNullable<VolumeSpec['source']>;
      nodes: readonly string[] | undefined;
    }
  /** `on`: objects whose change may end the wait. */
  | (Explanation & { is: 'waits'; on: readonly Awaited[] })
  /** Data source that another populator fills volumes from. */
  | (Explanation & { is: 'other'; on: readonly Awaited[] });

/** Input to a decision about one claim. */
export interface ClaimInput {
  claim: PersistentVolumeClaim;
  storageClass: StorageClass | undefined;
  /**
   * Options of the class, or why it permits no volumes; undefined if it is gone or not Stowage's.
   */
  options: DynamicClass | { problem: string } | undefined;
  pv: PersistentVolume | undefined;
  /** Volume with the claim's volume name, whatever its origin. */
  volume: Volume | undefined;
  /** Pods that use the claim and have not ended. */
  consumers: readonly Pod[];
  /** Nodes that this process manages. */
  nodes: readonly KubeNode[];
  /** Reports whether this process would manage the node, but no Node object exists. */
  isGone(node: string): boolean;
  /** Returns the room on a node; undefined if not observed yet. */
  roomOn(node: string): Room | undefined;
  /** Undefined if not resolved in this reconcile. */
  source: ClaimStart | undefined;
  /** Key (`eventKey`) of the claim's last event: each event is emitted once. */
  lastEventKey: string | undefined;
}

export type ClaimAction =
  | { do: 'observe-room'; nodes: readonly string[]; place: StorageLocation }
  | { do: 'resolve-source' }
  | { do: 'create-volume'; volume: Volume }
  /** Removes the selected node, so that the scheduler chooses again. */
  | { do: 'give-back'; node: string; event: EventToSend }
  /**
   * Deletes a Volume that its node refused and for which nothing was made. Removes the selected
   * node if `node` is set.
   */
  | {
      do: 'take-back';
      volume: Volume;
      place: StorageLocation;
      node: string | undefined;
      event: EventToSend;
    }
  | { do: 'emit-event'; event: EventToSend }
  | { do: 'expand'; volume: Volume; size: string }
  | { do: 'set-claim-status'; status: NonNullable<PersistentVolumeClaim['status']> };

export interface ClaimDecision {
  action?: ClaimAction;
  /** Delay in ms. */
  requeueAfter?: number;
  /** No volume is possible for the claim now. */
  failed?: true;
}

/** Input to a decision about a Volume that was provisioned for a claim. */
export interface ReclaimInput {
  volume: Volume;
  /**
   * PersistentVolume with the Volume's name, whatever its origin; by a
   * live read once `liveClaim` is set.
   */
  pv: PersistentVolume | undefined;
  /** The claim by a live read; undefined without one. */
  liveClaim: { found: PersistentVolumeClaim | undefined } | undefined;
  /** The claim in the cache. */
  claim: PersistentVolumeClaim | undefined;
  /** Volumes being provisioned from this Volume. */
  clones: readonly Volume[];
}

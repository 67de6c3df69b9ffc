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

/** A claim that was bound; or, without `ms`, an attempt to make its volume that failed. */
export interface Provisioned {
  storageClass: string;
  source: 'none' | 'snapshot' | 'claim' | 'link';
  crossNamespace: boolean;
  /** Since its Volume was created. */
  ms?: number;
}

/** What a claim starts from, once that may be used; or why it has to wait. */
export type ClaimStart =
  | { is: 'none' }
  /** `nodes`: where the data is; undefined: it comes from elsewhere. */
  | {
      is: 'ready';
      source: NonNullable<VolumeSpec['source']>;
      nodes: readonly string[] | undefined;
    }
  /** `on`: what may put an end to it. */
  | (Explanation & { is: 'waits'; on: readonly Awaited[] })
  /** Somebody else's to fill. */
  | (Explanation & { is: 'other'; on: readonly Awaited[] });

/** All that a decision about one claim is made from. */
export interface ClaimInput {
  claim: PersistentVolumeClaim;
  storageClass: StorageClass | undefined;
  /** What that says, or why no volume can be made for its claims; undefined where it is not ours, or gone. */
  options: DynamicClass | { problem: string } | undefined;
  pv: PersistentVolume | undefined;
  /** That of the claim's name, whoever made it. */
  volume: Volume | undefined;
  /** Pods that use the claim and have not ended. */
  consumers: readonly Pod[];
  /** The nodes that this process has hands on. */
  nodes: readonly KubeNode[];
  /** It would be this process's, and there is no such node. */
  isGone(node: string): boolean;
  /** As of this reconcile; undefined where it was not looked at yet. */
  roomOn(node: string): Room | undefined;
  /** Undefined while it was not asked for in this reconcile. */
  source: ClaimStart | undefined;
  /** What was told last (`saidBy`) of this claim: an event is told once. */
  told: string | undefined;
}

export type ClaimAction =
  | { do: 'look-for-room'; nodes: readonly string[]; place: StorageLocation }
  | { do: 'resolve-source' }
  | { do: 'create-volume'; volume: Volume }
  /** Takes the annotation off by which the scheduler chose the node: it is to choose again. */
  | { do: 'give-back'; node: string; event: EventToSend }
  /** Deletes a Volume that was refused on its node, where nothing was made, and takes the annotation off if `node` is set. */
  | {
      do: 'take-back';
      volume: Volume;
      place: StorageLocation;
      node: string | undefined;
      event: EventToSend;
    }
  | { do: 'tell'; event: EventToSend }
  | { do: 'expand'; volume: Volume; size: string }
  | { do: 'set-claim-status'; status: NonNullable<PersistentVolumeClaim['status']> };

export interface ClaimDecision {
  action?: ClaimAction;
  /** ms */
  requeueAfter?: number;
  /** No volume can be made for the claim now. */
  failed?: true;
}

/** Of a Volume that was made for a claim. */
export interface ReclaimInput {
  volume: Volume;
  /** Of the Volume's name, whoever made it; as the API server has it now, once the claim was asked for. */
  pv: PersistentVolume | undefined;
  /** The claim as the API server has it now; `undefined` where it was not asked. */
  liveClaim: { found: PersistentVolumeClaim | undefined } | undefined;
  /** As the cache has it. */
  claim: PersistentVolumeClaim | undefined;
  /** Volumes that are being made from it. */
  clones: readonly Volume[];
}

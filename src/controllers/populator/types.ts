import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { PopulatorDefinition } from '../../api/populator.ts';
import type { Explanation } from '../../api/reasons.ts';
import type { EventToSend } from '../lib/event.ts';

/** Obstacle of a pod that does not run: the word of a kubelet or a scheduler for it, and what that says besides. */
export interface Standstill {
  code: 'ImageRefused' | 'PodUnscheduled' | 'PodNotStarted';
  state?: string | undefined;
  said?: string | undefined;
}

/** What a claim is filled from, by a live read; or why it has to wait, or cannot be. */
export type SourceFound = { is: 'ready'; object: KubeObject } | { is: 'waits'; event: EventToSend };

/** What became of the pods of a prime claim; kept in its annotation. */
export interface Attempts {
  /** Pods that failed, since definition or source last changed; 0 where one was given up that had not begun. */
  failed: number;
  /** The UID of the last one that did: each counts once. */
  pod: string;
  /** The end of its log. */
  message: string;
  /** When that was noted, in ms since the epoch. */
  at: number;
  /** The definition and the source that it was made from. */
  of: string;
}

/** All that a decision about the filling of one claim is made from. */
export interface MachineInput {
  /** Of the claim that is filled. */
  uid: string;
  /** As the cache has it. */
  claim: PersistentVolumeClaim | undefined;
  /** The same as the API server has it now; undefined where it was not asked in this reconcile. */
  liveClaim: { found: PersistentVolumeClaim | undefined } | undefined;
  /** Those of the claim's kind. */
  definitions: readonly PopulatorDefinition[];
  /** Undefined where the claim's class is not there. */
  storageClass: StorageClass | undefined;
  /** Of the names that the machine gives them, whoever made them. */
  prime: PersistentVolumeClaim | undefined;
  pod: Pod | undefined;
  /** That which was filled for the claim, once it is the claim's; else that of the prime claim. */
  pv: PersistentVolume | undefined;
  /** Undefined while it was not asked for in this reconcile. */
  source: SourceFound | undefined;
  /** What was last said against the prime claim; undefined while it was not asked for in this reconcile. */
  primeSays: { found: Explanation | undefined } | undefined;
  /** The same of the pod, where that was the last word on it. */
  podSays: { found: Standstill | undefined } | undefined;
  /** The UID of the pod that was there last, where it is gone. */
  vanished: string | undefined;
  /** How many pods fill volumes now, or are about to; `own`: for claims of the same namespace. */
  running: { all: number; own: number };
  /** Event that was told last of this claim, as `saidBy` has it, with its public reason: an event is told once. */
  told: { reason: string; said: string } | undefined;
  /** The daemon's namespace, where prime claims and pods are. */
  namespace: string;
}

export type MachineAction =
  | { do: 'read-claim'; namespace: string; name: string }
  | { do: 'resolve-source'; definition: PopulatorDefinition }
  /** What others said of it. */
  | { do: 'look-at-prime'; prime: PersistentVolumeClaim }
  | { do: 'look-at-pod'; pod: Pod }
  | { do: 'tell'; event: EventToSend }
  | { do: 'add-finalizer' }
  | { do: 'remove-finalizer'; finished?: EventToSend }
  | { do: 'create-prime'; prime: PersistentVolumeClaim }
  | { do: 'delete-prime'; prime: PersistentVolumeClaim }
  /** What was never shown to anybody goes, whatever the class says. */
  | { do: 'release-pv'; pv: PersistentVolume }
  | { do: 'create-pod'; pod: Pod; event: EventToSend }
  | { do: 'delete-pod'; pod: Pod }
  | { do: 'note-attempts'; attempts: Attempts; event: EventToSend }
  | { do: 'mark-populated'; pod: Pod }
  /** The scheduler is to choose another node. */
  | { do: 'give-back'; event: EventToSend }
  | { do: 'rebind'; pv: PersistentVolume; from: string };

export interface MachineDecision {
  action?: MachineAction;
  /** ms */
  requeueAfter?: number;
}

import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
  Toleration,
} from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { PopulatorDefinition } from '../../api/populator.ts';
import type { Explanation } from '../../api/reasons.ts';
import type { EventToSend } from '../lib/event.ts';

/**
 * Obstacle to a pod that does not run, with the state and message from the kubelet or scheduler.
 */
export interface Standstill {
  code: 'ImageRefused' | 'PodUnscheduled' | 'PodNotStarted';
  state?: string | undefined;
  message?: string | undefined;
}

/** Object that a claim is filled from, or the event that reports why the claim waits. */
export type SourceFound = { is: 'ready'; object: KubeObject } | { is: 'waits'; event: EventToSend };

/** Record of the pods of a prime claim, in its annotation. */
export interface Attempts {
  /**
   * Number of failed pods since definition or source last changed; 0 after an outdated pod that
   * never started.
   */
  failed: number;
  /** UID of the last recorded pod, so that each counts once. */
  pod: string;
  /** End of the pod's log. */
  message: string;
  /** Time of the record, in ms since the epoch. */
  at: number;
  /** Definition and source of the pod, from `originOf`. */
  of: string;
}

/** Settings of a populator pod that are not those of its definition. */
export interface PodSettings {
  /** Namespace of the daemon, of prime claims and of pods. */
  namespace: string;
  /** Default user ID, which is the default of the group IDs, too. */
  user: number;
  /** Tolerations of the pod that waits for the claim. */
  tolerations: readonly Toleration[];
}

/** Input to a decision about the filling of one claim. */
export interface PopulatorInput extends PodSettings {
  /** UID of the claim to fill. */
  uid: string;
  /** The claim in the cache. */
  claim: PersistentVolumeClaim | undefined;
  /** The claim by a live read in this reconcile; undefined without one. */
  liveClaim: { found: PersistentVolumeClaim | undefined } | undefined;
  /** Definitions for the kind of the claim's data source. */
  definitions: readonly PopulatorDefinition[];
  /** Undefined if the claim's class does not exist. */
  storageClass: StorageClass | undefined;
  /** Prime claim and pod by their fixed names, also if another creator made them. */
  prime: PersistentVolumeClaim | undefined;
  pod: Pod | undefined;
  /**
   * Creation of the pod by the clock of this process, in ms since the epoch. Default: that by the
   * clock of the API server, which may differ.
   */
  podSeenAt?: number | undefined;
  /** PersistentVolume whose claimRef names the claim; else that of the prime claim. */
  pv: PersistentVolume | undefined;
  /** Undefined if not read in this reconcile. */
  source: SourceFound | undefined;
  /** Last warning about the prime claim; undefined if not read in this reconcile. */
  primeWarning: { found: Explanation | undefined } | undefined;
  /**
   * Obstacle in the pod's latest event, if that is a warning; undefined if not read in this
   * reconcile.
   */
  podWarning: { found: Standstill | undefined } | undefined;
  /** UID of the last observed pod if that pod is gone. */
  vanished: string | undefined;
  /** Number of pods that fill volumes or are about to; `own`: for claims in the same namespace. */
  running: { all: number; own: number };
  /** Reason and key (`eventKey`) of the last event of this claim: each event is emitted once. */
  lastEvent: { reason: string; key: string } | undefined;
}

export type PopulatorAction =
  | { do: 'read-claim'; namespace: string; name: string }
  | { do: 'resolve-source'; definition: PopulatorDefinition }
  /** Reads the events of the object, as does `read-pod-events`. */
  | { do: 'read-prime-events'; prime: PersistentVolumeClaim }
  | { do: 'read-pod-events'; pod: Pod }
  | { do: 'emit-event'; event: EventToSend }
  | { do: 'add-finalizer' }
  | { do: 'remove-finalizer'; finished?: EventToSend }
  | { do: 'create-prime'; prime: PersistentVolumeClaim }
  | { do: 'delete-prime'; prime: PersistentVolumeClaim }
  /** Sets reclaim policy Delete on a PersistentVolume that no other pod can have used. */
  | { do: 'release-pv'; pv: PersistentVolume }
  | { do: 'create-pod'; pod: Pod; event: EventToSend }
  | { do: 'delete-pod'; pod: Pod }
  | { do: 'note-attempts'; attempts: Attempts; event: EventToSend }
  | { do: 'mark-populated'; pod: Pod }
  /** Removes the selected node, so that the scheduler chooses again. */
  | { do: 'give-back'; event: EventToSend }
  | { do: 'rebind'; pv: PersistentVolume; from: string };

export interface PopulatorDecision {
  action?: PopulatorAction;
  /** Delay in ms. */
  requeueAfter?: number;
}

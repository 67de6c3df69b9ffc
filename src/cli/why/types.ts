import type { ControllerName } from '../../api/controllers.ts';
import type {
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../api/core.ts';
import type { Reason as Detail } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import type { Reading } from '../lib/read-result.ts';
import type { Reason } from './reasons.ts';

/** Nodes to which a PersistentVolume leads pods. */
export interface Placement {
  selected: readonly KubeNode[];
  /** Nodes that can have the volume, and are not selected. */
  passedOver: readonly KubeNode[];
}

export interface VolumeFacts {
  volume: Volume;
  /** PersistentVolume with the Volume's name; its owner may be another one. */
  pv: Reading<PersistentVolume>;
  /** Claim of the PersistentVolume, and the pods that use it. */
  claim: Reading<PersistentVolumeClaim>;
  pods: Reading<Pod[]>;
  storageClass: Reading<StorageClass>;
  /** Names of existing classes, if that one is missing and the user may list them. */
  classes?: readonly string[];
  node: Reading<KubeNode>;
  /** Set for an Available Volume with a PersistentVolume, if the user may list nodes. */
  placement?: Placement | undefined;
  /**
   * Claim of the name that the template of a Failed Volume has. It may be another claim, created
   * later. Undefined if the Volume was created for no claim.
   */
  templateClaim?: Reading<PersistentVolumeClaim>;
  /** Claim that `templateClaim` names as its target if that is a populator's prime claim. */
  target?: Reading<PersistentVolumeClaim>;
  /** Volume that has the device of a Failed Volume, by its name; it may have been recreated. */
  otherVolume?: Reading<Volume>;
}

export interface Fix {
  say: string;
  /** Command lines for a shell, quoted. */
  run?: string[];
  /** Applied before `run`. */
  manifest?: object;
  /**
   * Flags that the daemon needs; the command for them depends on where it runs (`besideDaemons`).
   */
  daemonFlags?: readonly string[];
}

/** Object on the path from the explained object to its blocker. */
export interface Link {
  kind: string;
  /** Set for namespaced kinds. */
  namespace?: string;
  name: string;
}

export interface Blocker {
  cause: Reason;
  /** Code behind the cause, if the daemon recorded one. */
  reason?: Detail | undefined;
  /** Objects on the path, in order, without the explained one; the last one has the blocker. */
  chain?: readonly Link[];
  holdup: string;
  /** RFC 3339. */
  since?: string;
  /** Next attempt: a time (RFC 3339), or the event that it waits for. */
  next?: { at: string } | { when: string };
  fix?: Fix;
  /** Fix for all objects that it blocks, if `fix` includes work on one of them. */
  sharedFix?: Fix;
  /** Controller that processes the object first, if not that of its kind. */
  controller?: ControllerName;
}

/** `fix` of an object that nothing holds up is how to use it further. */
export type Diagnosis = Blocker | { nothing: string; fix?: Fix };

export interface Subject {
  kind: string;
  name: string;
  namespace?: string;
  phase: string;
}

export interface Explained {
  subject: Subject;
  diagnosis: Diagnosis;
  /** Objects read for the explanation, and refusals for those that the user may not read. */
  readings: readonly object[];
  /** Node of the work, if known. */
  node?: string;
}

export interface WhyFlags {
  output?: 'json' | 'yaml';
}

/** Returns the blocker of an object that waits for the linked one. */
export const through = (link: Link, holdup: Blocker): Blocker => ({
  ...holdup,
  chain: [link, ...(holdup.chain ?? [])],
});

/** Returns a blocker as printed for a node, or for several objects. */
export const forAll = ({ sharedFix, ...blocker }: Blocker): Blocker => ({
  ...blocker,
  ...(sharedFix !== undefined && { fix: sharedFix }),
});

/** Check for one possible blocker of a Volume. `now` is in ms since the epoch. */
export type Cause = (known: VolumeFacts, now: number) => Blocker | undefined;

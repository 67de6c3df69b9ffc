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

/** All that an explanation is made from. */
export interface VolumeFacts {
  volume: Volume;
  /** Of the Volume's name, whoever made it. */
  pv: Reading<PersistentVolume>;
  /** That of the PersistentVolume, and the pods that use it. */
  claim: Reading<PersistentVolumeClaim>;
  pods: Reading<Pod[]>;
  storageClass: Reading<StorageClass>;
  node: Reading<KubeNode>;
}

/** What puts an end to it. */
export interface Fix {
  say: string;
  /** Command lines for a shell, quoted. */
  run?: string[];
  /** To be applied before `run`. */
  manifest?: object;
  /** Flags that the daemon needs; the command for them depends on where it runs (`besideDaemons`). */
  daemonFlags?: readonly string[];
}

/** An object on the way from what was asked about to what holds it up. */
export interface Link {
  kind: string;
  /** Of what is in one. */
  namespace?: string;
  name: string;
}

export interface Blocker {
  cause: Reason;
  /** The code that it was found by, where the daemon told one. */
  reason?: Detail | undefined;
  /** What was looked at on the way, in order, without what was asked about; the last is where it is held up. */
  chain?: readonly Link[];
  holdup: string;
  /** RFC 3339. */
  since?: string;
  /** When it is tried next: a time (RFC 3339), or what it waits for. */
  next?: { at: string } | { when: string };
  fix?: Fix;
  /** The controller that is to take it up, where that is not the one of the kind. */
  controller?: ControllerName;
}

export type Diagnosis = Blocker | { nothing: string };

/** What is explained. */
export interface Subject {
  kind: string;
  name: string;
  namespace?: string;
  phase: string;
}

export interface Explained {
  subject: Subject;
  diagnosis: Diagnosis;
  /** What was read for it: parts that the user may not read are told of. */
  looked: readonly object[];
  /** Where the work is, if that is known. */
  node?: string;
}

export interface WhyFlags {
  output?: 'json' | 'yaml';
}

/** What holds an object up that another one waits for. */
export const through = (link: Link, holdup: Blocker): Blocker => ({
  ...holdup,
  chain: [link, ...(holdup.chain ?? [])],
});

/** One thing that can hold a Volume up, if it does now. `now` is in ms since the epoch. */
export type Cause = (known: VolumeFacts, now: number) => Blocker | undefined;

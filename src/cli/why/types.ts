import type { KubeNode, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../api/core.ts';
import type { Volume } from '../../api/volume.ts';
import type { Reading } from '../volume/reading.ts';

/** All that an explanation is made from. */
export interface Known {
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
}

export interface Holdup {
  holdup: string;
  /** RFC 3339. */
  since?: string;
  /** When it is tried next: a time (RFC 3339), or what it waits for. */
  next?: { at: string } | { when: string };
  fix?: Fix;
}

export type Diagnosis = Holdup | { nothing: string };

/** One thing that can hold a Volume up, if it does now. `now` is in ms since the epoch. */
export type Cause = (known: Known, now: number) => Holdup | undefined;

import type {
  AnyEvent,
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from '../../../api/core.ts';
import type { Volume } from '../../../api/volume.ts';
import type { Reading } from '../../lib/read-result.ts';
import type { ClaimFacts, Supply } from '../claim/facts.ts';
import type { VolumeFacts } from '../types.ts';

/** A volume of a pod that a Volume of Stowage may be behind. */
export interface PodVolume {
  /** `namespace/name`; undefined of one that names a device itself. */
  claimName: string | undefined;
  claim: Reading<PersistentVolumeClaim>;
  /** Of the claim. */
  pv: Reading<PersistentVolume>;
  /** undefined: it is none of Stowage's, as far as is known. */
  volume: Reading<Volume> | undefined;
  /** All about the Volume, where it is not Ready. */
  known: VolumeFacts | undefined;
  /** The Node of its attachment on another node than the pod's. */
  holder: Reading<KubeNode>;
  /** All about a claim without a volume whose class is not for volumes made by hand. */
  dynamic?: ClaimFacts;
}

/** All that an explanation is made from. */
export interface PodFacts {
  pod: Pod;
  node: Reading<KubeNode>;
  volumes: PodVolume[];
  /** Of the pod, the oldest first: read where they tell which of two things comes first. */
  events: Reading<AnyEvent[]>;
  /** Read where a claim is not bound. */
  supply: Supply | undefined;
}

export const podName = ({ metadata: { namespace, name } }: Pod): string => `${namespace}/${name}`;

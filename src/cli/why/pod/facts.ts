import type {
  AnyEvent,
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../../api/core.ts';
import type { Volume } from '../../../api/volume.ts';
import type { Reading } from '../../lib/read-result.ts';
import type { ClaimFacts, Supply } from '../claim/facts.ts';
import type { Placement, VolumeFacts } from '../types.ts';

/** Volume of a pod that may be backed by a Volume of Stowage. */
export interface PodVolume {
  /** `namespace/name`; undefined if the pod names a device. */
  claimName: string | undefined;
  claim: Reading<PersistentVolumeClaim>;
  /** PersistentVolume of the claim. */
  pv: Reading<PersistentVolume>;
  /** undefined if the volume is not Stowage's, as far as known. */
  volume: Reading<Volume> | undefined;
  /** Facts about the Volume if it is not Ready. */
  known: VolumeFacts | undefined;
  /** Nodes to which the PersistentVolume leads the pod, if that has none yet. */
  placement?: Placement | undefined;
  /** Node to which the Volume is attached, other than the pod's. */
  holder: Reading<KubeNode>;
  /** Class of an unbound claim that is for Volumes created by hand. */
  byHand?: StorageClass;
  /** Facts about an unbound claim, unless its class exists and is for Volumes created by hand. */
  dynamic?: ClaimFacts;
}

export interface PodFacts {
  pod: Pod;
  node: Reading<KubeNode>;
  volumes: PodVolume[];
  /** Events on the pod, oldest first; read if they decide which of two blockers comes first. */
  events: Reading<AnyEvent[]>;
  /** Read if a claim is unbound. */
  supply: Supply | undefined;
}

export const podName = ({ metadata: { namespace, name } }: Pod): string => `${namespace}/${name}`;

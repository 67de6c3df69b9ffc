import type {
  AnyEvent,
  KubeNode,
  Lease,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../../api/core.ts';
import type { Volume } from '../../../api/volume.ts';
import type { NearMiss } from '../../../model/data-source/grant.ts';
import type { Resolution } from '../../../model/data-source/resolve.ts';
import { commandLine } from '../../lib/command-line.ts';
import type { Reading } from '../../lib/read-result.ts';
import type { VolumeFacts } from '../types.ts';

/** All that the explanation of a claim is made from. */
export interface ClaimFacts {
  claim: PersistentVolumeClaim;
  /** That which it names. */
  storageClass: Reading<StorageClass>;
  /** What it starts from; undefined where that was not looked at. */
  source: Resolution | { forbidden: string } | undefined;
  /** The nodes that have it, and no others: a volume is made from it there. */
  sourceNodes?: readonly { name: string; node: Reading<KubeNode> }[];
  /** Of one that waits for a populator: the names of PopulatorDefinitions of its kind, and whether a VolumePopulator stands for that; what is made for it. */
  population: { definitions: readonly string[]; registered: boolean; made?: Made } | undefined;
  /** The grants that nearly allow it, the nearest first. */
  misses: readonly NearMiss[];
  /** Of the daemons, where what they follow was asked for. */
  leases?: Reading<Lease[]>;
  pv: Reading<PersistentVolume>;
  /** Its own, or the one that is being made for it. */
  volume: Reading<Volume>;
  /** All about that, where it is not Ready. */
  known: VolumeFacts | undefined;
  /** Those that use it. */
  pods: Reading<Pod[]>;
  /** The oldest first. */
  events: Reading<AnyEvent[]>;
  /** On its class, the oldest first: whether it is known how much room nodes have. Undefined where that does not matter. */
  classEvents?: Reading<AnyEvent[]>;
  /** What could be bound to one of a static class. */
  supply: Supply | undefined;
}

export const lookAt = ({ claim: { metadata } }: ClaimFacts): string =>
  commandLine('kubectl', 'describe', 'pvc', metadata.name, '-n', metadata.namespace ?? '');

export const claimName = ({ metadata: { namespace, name } }: PersistentVolumeClaim): string =>
  `${namespace}/${name}`;
/** What there is in the daemon's namespace to fill a claim, as far as the user may see that. */

export interface Made {
  prime?: PersistentVolumeClaim | undefined;
  pod?: Pod | undefined;
}
/** What claims that are not bound could be bound to. */

export interface Supply {
  pvs: Reading<PersistentVolume[]>;
  volumes: Reading<Volume[]>;
}

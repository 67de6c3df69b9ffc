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

export interface ClaimFacts {
  claim: PersistentVolumeClaim;
  /** Class that the claim names. */
  storageClass: Reading<StorageClass>;
  /** Names of existing classes, if that one is missing and the user may list them. */
  classes?: readonly string[];
  /** Data source; undefined if it was not read. */
  source: Resolution | { forbidden: string } | undefined;
  /** Nodes that hold the source, the only ones on which a volume is provisioned from it. */
  sourceNodes?: readonly { name: string; node: Reading<KubeNode> }[];
  /**
   * Set if the claim waits for a populator: PopulatorDefinitions of its kind, whether a
   * VolumePopulator names the kind, and objects made for the claim.
   */
  population: { definitions: readonly string[]; registered: boolean; made?: Made } | undefined;
  /** Grants that nearly allow the reference, nearest first. */
  misses: readonly NearMiss[];
  /** Leases of the daemons, if the references that they follow matter. */
  leases?: Reading<Lease[]>;
  pv: Reading<PersistentVolume>;
  /** Volume of the claim, or the one being provisioned for it. */
  volume: Reading<Volume>;
  /** Facts about that Volume if it is not Ready. */
  known: VolumeFacts | undefined;
  /** Pods that use the claim. */
  pods: Reading<Pod[]>;
  /** Oldest first. */
  events: Reading<AnyEvent[]>;
  /** Events on the class, oldest first, about unknown capacity. Undefined if irrelevant. */
  classEvents?: Reading<AnyEvent[]>;
  /** Volumes that a claim of a static class could be bound to. */
  supply: Supply | undefined;
}

export const describeCommand = ({ claim: { metadata } }: ClaimFacts): string =>
  commandLine('kubectl', 'describe', 'pvc', metadata.name, '-n', metadata.namespace ?? '');

export const claimName = ({ metadata: { namespace, name } }: PersistentVolumeClaim): string =>
  `${namespace}/${name}`;
/** Objects in the daemon's namespace that fill a claim, as far as the user may read them. */

export interface Made {
  prime?: PersistentVolumeClaim | undefined;
  pod?: Pod | undefined;
}
/** Volumes that unbound claims could be bound to. */

export interface Supply {
  pvs: Reading<PersistentVolume[]>;
  volumes: Reading<Volume[]>;
}

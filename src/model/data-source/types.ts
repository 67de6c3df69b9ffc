import type { Refused } from '../../api/reasons.ts';
import type { Referent, Referrer } from './grant.ts';

/** Object whose change may end a wait; without a name, any object of its kind in the namespace. */
export interface Awaited {
  kind:
    | 'VolumeSnapshot'
    | 'VolumeSnapshotContent'
    | 'VolumeSnapshotLink'
    | 'ReferenceGrant'
    | 'PersistentVolumeClaim'
    | 'PersistentVolume'
    | 'PopulatorDefinition'
    | 'VolumePopulator'
    /** An object of any kind that volumes are filled from. */
    | 'PopulatorSource';
  /** Namespace, for a namespaced kind. */
  namespace?: string;
  name?: string;
  /** Reference that a ReferenceGrant must allow to end the wait. */
  reference?: { from: Referrer; to: Referent };
}

/** Reason why a source cannot be used. */
export interface Obstacle extends Refused {
  /** Referent that no grant allows. */
  referent?: Referent;
  on: Awaited[];
}

/**
 * Claim that cannot proceed now. `wait`: it proceeds by itself after another change. `refuse`:
 * permanent unless the claim's source is created again, since source, size and mode of an unbound
 * claim are immutable.
 */
export type Held = { wait: Obstacle } | { refuse: Obstacle };

import type { Refused } from '../../api/reasons.ts';
import type { Referent, Referrer } from './grant.ts';

/** An object whose change may put an end to a wait; without a name: any of its kind in the namespace. */
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
  /** Of what is in one. */
  namespace?: string;
  name?: string;
  /** Of a ReferenceGrant: what it is to allow. One that does not is of no use. */
  reference?: { from: Referrer; to: Referent };
}

/** Why a source cannot be used. */
export interface Obstacle extends Refused {
  /** Missing from all grants. */
  referent?: Referent;
  on: Awaited[];
}

/**
 * `wait`: it goes on by itself once something else has happened. `refuse`: never with the claim as it is, unless what it names is
 * made anew; a claim's source, size and mode cannot be changed before it is bound.
 */
export type Held = { wait: Obstacle } | { refuse: Obstacle };

import type { PersistentVolumeClaim, StorageClass } from '../../../api/core.ts';
import type { KubeObject } from '../../../api/meta.ts';
import { DRIVER, NO_PROVISIONER } from '../../../api/names.ts';
import { volumeNameOf } from '../../../model/claim-volume.ts';
import type { ClaimRow, VolumeRow } from '../../../ui/protocol.ts';
import { publicPair } from '../public-text.ts';
import { claimRow } from './claim-row.ts';

/** Claims that Stowage serves, with their rows. */
export interface ServedClaims {
  rows: ReadonlyMap<string, ClaimRow>;
  /** Takes a claim that is new or changed, or one that is gone. */
  take(claim: PersistentVolumeClaim, isGone?: boolean): void;
  takeClass(storageClass: StorageClass, isGone?: boolean): void;
  /** Takes a changed Volume. `storageClass`: its class; undefined if the Volume is gone. */
  volumeChanged(name: string, storageClass: string | undefined): void;
}

/** Returns `NAMESPACE/NAME`. */
export const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;

/**
 * Keeps the claims that Stowage serves: those of a Volume, of a class of the daemon, and of a
 * static class that a Volume has.
 * @param volumeOf returns the row of a Volume
 * @param changed is called with the key of a claim whose row changed, came or went
 */
export function createServedClaims(
  volumeOf: (name: string) => VolumeRow | undefined,
  changed: (key: string) => void,
): ServedClaims {
  const claims = new Map<string, PersistentVolumeClaim>();
  const rows = new Map<string, ClaimRow>();
  /** Provisioners by class. */
  const provisioners = new Map<string, string>();
  /** Classes by Volume, and the number of Volumes by class. */
  const classes = new Map<string, string>();
  const used = new Map<string, number>();
  /** Keys of claims by the Volume that each has or will have. */
  const byVolume = new Map<string, Set<string>>();

  /** Returns names of the Volume that a claim may have: the bound one, and the provisioned one. */
  const namesOf = (claim: PersistentVolumeClaim): string[] => {
    const { volumeName } = claim.spec;
    return [...(volumeName ? [volumeName] : []), volumeNameOf(claim)];
  };

  function volumeOfClaim(claim: PersistentVolumeClaim): VolumeRow | undefined {
    const { namespace, name } = claim.metadata;
    const own = publicPair(namespace, name);
    return (
      namesOf(claim)
        .map(volumeOf)
        // The Volume may be another claim's, since a claim can name any volume.
        .find((row) => row !== undefined && (row.claim === '' || row.claim === own))
    );
  }

  function isOfServedClass({ spec: { storageClassName = '' } }: PersistentVolumeClaim): boolean {
    const provisioner = provisioners.get(storageClassName);
    if (provisioner === DRIVER) return true;
    return provisioner === NO_PROVISIONER && (used.get(storageClassName) ?? 0) > 0;
  }

  function update(key: string): void {
    const claim = claims.get(key);
    const before = rows.get(key);
    const volume = claim && volumeOfClaim(claim);
    const isServed = claim !== undefined && (volume !== undefined || isOfServedClass(claim));
    if (!isServed) {
      if (rows.delete(key)) changed(key);
      return;
    }
    const row = claimRow(claim, volume);
    // Most changes of a Volume change nothing of its claim.
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(row)) return;
    rows.set(key, row);
    changed(key);
  }

  function updateClass(name: string): void {
    for (const [key, { spec }] of claims) if (spec.storageClassName === name) update(key);
  }

  function count(storageClass: string, by: 1 | -1): void {
    const before = used.get(storageClass) ?? 0;
    used.set(storageClass, before + by);
    if (before === 0 || before + by === 0) updateClass(storageClass);
  }

  function index(claim: PersistentVolumeClaim, key: string): void {
    for (const name of namesOf(claim))
      byVolume.set(name, (byVolume.get(name) ?? new Set()).add(key));
  }

  function unindex(key: string): void {
    const claim = claims.get(key);
    for (const name of claim === undefined ? [] : namesOf(claim)) {
      const keys = byVolume.get(name);
      keys?.delete(key);
      if (keys?.size === 0) byVolume.delete(name);
    }
  }

  return {
    rows,
    take(claim, isGone = false) {
      const key = keyOf(claim);
      unindex(key);
      if (isGone) claims.delete(key);
      else {
        claims.set(key, claim);
        index(claim, key);
      }
      update(key);
    },
    takeClass({ metadata: { name }, provisioner }, isGone = false) {
      if (!isGone && provisioners.get(name) === provisioner) return;
      if (isGone) provisioners.delete(name);
      else provisioners.set(name, provisioner);
      updateClass(name);
    },
    volumeChanged(name, storageClass) {
      const before = classes.get(name);
      if (before !== storageClass) {
        if (storageClass === undefined) classes.delete(name);
        else classes.set(name, storageClass);
        if (before !== undefined) count(before, -1);
        if (storageClass !== undefined) count(storageClass, 1);
      }
      for (const key of byVolume.get(name) ?? []) update(key);
    },
  };
}

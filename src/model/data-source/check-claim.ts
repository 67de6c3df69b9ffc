import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core.ts';
import { VOLUME_API_VERSION } from '../../api/names.ts';
import { formatBytes, parseQuantity } from '../../api/quantity.ts';
import { modeOf, requestOf } from './request.ts';
import type { Awaited, Held, ObstacleReason } from './types.ts';

export interface UsableClaim {
  /** The Volume behind it. */
  volumeName: string;
  /** Bytes. */
  restoreSizeBytes: bigint;
}

/**
 * Whether a claim can start from what another claim has, by what external-provisioner checks (getPVCSource). `pv`: the
 * PersistentVolume that the source names, if there is such an object. Pure.
 */
export function checkSourceClaim(
  source: PersistentVolumeClaim,
  pv: PersistentVolume | undefined,
  claim: Pick<PersistentVolumeClaim, 'metadata' | 'spec'>,
): { usable: UsableClaim } | Held {
  const { namespace = '', name, uid } = source.metadata;
  const what = `PersistentVolumeClaim ${namespace}/${name}`;
  const { volumeName } = source.spec;
  const on: Awaited[] = [
    { kind: 'PersistentVolumeClaim', namespace, name },
    ...(volumeName ? [{ kind: 'PersistentVolume', name: volumeName } as const] : []),
  ];
  const wait = (reason: ObstacleReason, message: string): Held => ({
    wait: { reason, message, on },
  });
  const refuse = (reason: ObstacleReason, message: string): Held => ({
    refuse: { reason, message, on },
  });

  if (uid !== undefined && uid === claim.metadata.uid)
    return refuse('NotBound', 'the claim names itself as its source');
  if (source.metadata.deletionTimestamp !== undefined)
    return wait('BeingDeleted', `${what} is being deleted`);
  const { phase = 'Pending' } = source.status ?? {};
  if (phase !== 'Bound' || !volumeName)
    return wait('NotBound', `${what} is ${phase}, and must be Bound`);
  if (pv === undefined)
    return wait(
      'NotBound',
      `${what} is bound to PersistentVolume ${volumeName}, which does not exist`,
    );
  const { claimRef } = pv.spec;
  if (claimRef?.uid !== uid || claimRef?.namespace !== namespace || claimRef?.name !== name) {
    return wait(
      'BoundToAnother',
      `PersistentVolume ${volumeName} of ${what} is bound to another claim`,
    );
  }
  const owner = pv.metadata.ownerReferences?.find(
    ({ apiVersion, kind }) => apiVersion === VOLUME_API_VERSION && kind === 'Volume',
  );
  if (owner === undefined) {
    return refuse(
      'OtherDriver',
      `the volume of ${what} is none of Stowage's, and only those can be cloned`,
    );
  }
  // What it has may be more than what it asked for.
  const restoreSizeBytes = parseQuantity(
    source.status?.capacity?.storage ?? pv.spec.capacity.storage,
  );
  const asked = requestOf(claim);
  if (asked < restoreSizeBytes) {
    return refuse(
      'TooSmall',
      `the claim asks for ${formatBytes(asked)}, and ${what} has ${formatBytes(restoreSizeBytes)}`,
    );
  }
  if (modeOf(source) !== modeOf(claim)) {
    return refuse(
      'ModeChange',
      `the claim asks for volume mode ${modeOf(claim)}, and ${what} is of mode ${modeOf(source)}`,
    );
  }
  return { usable: { volumeName: owner.name, restoreSizeBytes } };
}

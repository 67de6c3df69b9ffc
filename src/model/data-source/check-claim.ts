import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core.ts';
import { VOLUME_API_VERSION } from '../../api/names.ts';
import { formatBytes, parseQuantity } from '../../api/quantity.ts';
import { type Refused, refuse } from '../../api/reasons.ts';
import { modeOf, requestOf } from './request.ts';
import type { Awaited, Held } from './types.ts';

export interface UsableClaim {
  volumeName: string;
  /** Bytes. */
  restoreSizeBytes: bigint;
}

/**
 * Checks whether a claim can start from another claim, as external-provisioner does (getPVCSource).
 * `pv`: the PersistentVolume that the source names, if it exists. Pure.
 */
export function checkSourceClaim(
  source: PersistentVolumeClaim,
  pv: PersistentVolume | undefined,
  claim: Pick<PersistentVolumeClaim, 'metadata' | 'spec'>,
): { usable: UsableClaim } | Held {
  const { namespace = '', name, uid } = source.metadata;
  const whole = `${namespace}/${name}`;
  const { volumeName } = source.spec;
  const on: Awaited[] = [
    { kind: 'PersistentVolumeClaim', namespace, name },
    ...(volumeName ? [{ kind: 'PersistentVolume', name: volumeName } as const] : []),
  ];
  const wait = (refused: Refused): Held => ({ wait: { ...refused, on } });
  const never = (refused: Refused): Held => ({ refuse: { ...refused, on } });
  const kind = 'PersistentVolumeClaim';

  if (uid !== undefined && uid === claim.metadata.uid) return never(refuse('SourceItself'));
  if (source.metadata.deletionTimestamp !== undefined)
    return wait(refuse('SourceBeingDeleted', { kind, source: whole }));
  const { phase = 'Pending' } = source.status ?? {};
  if (phase !== 'Bound' || !volumeName)
    return wait(refuse('SourceUnbound', { source: whole, phase }));
  if (pv === undefined)
    return wait(refuse('SourceVolumeMissing', { source: whole, volume: volumeName }));
  const { claimRef } = pv.spec;
  if (claimRef?.uid !== uid || claimRef?.namespace !== namespace || claimRef?.name !== name) {
    return wait(refuse('SourceVolumeOfAnother', { volume: volumeName, source: whole }));
  }
  const owner = pv.metadata.ownerReferences?.find(
    ({ apiVersion, kind }) => apiVersion === VOLUME_API_VERSION && kind === 'Volume',
  );
  if (owner === undefined) return never(refuse('SourceForeign', { source: whole }));
  // The source's capacity may exceed its request.
  const restoreSizeBytes = parseQuantity(
    source.status?.capacity?.storage ?? pv.spec.capacity.storage,
  );
  const asked = requestOf(claim);
  if (asked < restoreSizeBytes) {
    return never(
      refuse('SmallerThanSource', {
        asked: formatBytes(asked),
        source: whole,
        size: formatBytes(restoreSizeBytes),
      }),
    );
  }
  if (modeOf(source) !== modeOf(claim)) {
    const modes = { asked: modeOf(claim), mode: modeOf(source) };
    return never(refuse('ModeDiffers', { kind, source: whole, ...modes }));
  }
  return { usable: { volumeName: owner.name, restoreSizeBytes } };
}

import { type Refused, refuse } from '../../api/reasons.ts';
import { tooSmall } from '../mkfs.ts';
import type { DesiredLvm, ObservedLvm, Refusal } from '../types.ts';
import { contentOf, extentsIn, FREE_EXTENTS, isAmbivalent, rangeOf } from './content.ts';
import type { VolumeGroup } from './facts.ts';
import { extentsFor, refuseChange } from './group.ts';
import { lvName } from './names.ts';
import { poolOf, refuseIll, usedOf } from './pool.ts';
import { fullest, fullnessOf, MAX_METADATA } from './room.ts';

const MIB = 1n << 20n;

/** Returns why no logical volume may be made; undefined if one may. */
export function refuseCreate(
  desired: DesiredLvm,
  observed: ObservedLvm,
  group: VolumeGroup,
): Refusal | undefined {
  const bytes = extentsFor(desired, group) * group.extentBytes;
  const small =
    desired.mode === 'Filesystem' && desired.fs !== undefined
      ? tooSmall(desired.fs.type, bytes)
      : undefined;
  return (
    refuseChange(group) ??
    small ??
    (desired.thinPool === undefined
      ? (refuseRoom(desired, observed, group) ?? refuseContent(desired, observed))
      : (refusePool(desired, desired.thinPool, observed, bytes) ??
        refuseOldBytes(desired, desired.thinPool, observed)))
  );
}

function refuseOldBytes(
  { zeroed, vgName }: DesiredLvm,
  thinPool: string,
  observed: ObservedLvm,
): Refusal | undefined {
  if (zeroed !== true || poolOf(observed, thinPool)?.zeroes !== false) return undefined;
  return refuse('ThinPoolNotZeroed', { pool: lvName({ vgName }, thinPool) });
}

function refuseRoom(
  desired: DesiredLvm,
  { free }: ObservedLvm,
  group: VolumeGroup,
): Refusal | undefined {
  const wanted = extentsFor(desired, group);
  const { name, extentBytes } = group;
  const usable = extentsIn(free);
  // `free` never exceeds the wanted extents: if it is smaller, no more extents are usable.
  const freeExtents = usable < wanted && usable < group.freeExtents ? usable : group.freeExtents;
  if (wanted <= freeExtents) return undefined;
  const [left, needed] = [freeExtents * extentBytes, wanted * extentBytes];
  return refuse('VolumeGroupFull', { group: name, left, needed });
}

/** Refuses free extents with content without consent. Earlier volumes or pvmove left it. */
function refuseContent(desired: DesiredLvm, { free }: ObservedLvm): Refusal | undefined {
  const content = contentOf(free);
  if (content === '' || desired.overwrite === FREE_EXTENTS) return undefined;
  if (isAmbivalent(free)) return ambivalence(desired, free);
  if (content === desired.overwrite) return undefined;
  const places = free.filter((each) => each.content !== '').map(({ pv }) => pv);
  return refuse('FreeExtentsCarryData', {
    group: desired.vgName,
    content,
    places: [...new Set(places)].join(', '),
    ...consentGiven(desired),
    overwrite: JSON.stringify(content),
  });
}

/** Refuses ambivalent extents: blkid names no signature, so a consent's effect would be unknown. */
function ambivalence({ vgName, name }: DesiredLvm, free: ObservedLvm['free']): Refusal {
  return refuse('FreeExtentsAmbivalent', {
    group: vgName,
    overwrite: JSON.stringify(FREE_EXTENTS),
    temporary: `${name}-look`,
    extents: extentsIn(free),
    ranges: free.map(rangeOf).join(' '),
  });
}

/** Returns the Volume's insufficient consent. */
function consentGiven({ overwrite, forced }: DesiredLvm) {
  if (overwrite !== undefined) return { consent: JSON.stringify(overwrite) };
  return forced ? { annotation: refuse('AnnotationIsNoConsent').refusal } : {};
}

/** Estimates the bytes that mkfs writes at this size: the log, and part of the tables. */
export const written = (bytes: bigint): bigint => 64n * MIB + bytes / 50n;

/** Estimates the bytes that preparing a volume of this size writes. */
export function begins({ mode }: DesiredLvm, bytes: bigint): bigint {
  const begun = mode === 'Filesystem' ? written(bytes) : 1n;
  return begun < bytes ? begun : bytes;
}

/** Refuses a thin pool without room for preparing a volume of this size. */
export function refusePool(
  desired: DesiredLvm,
  thinPool: string,
  observed: ObservedLvm,
  bytes: bigint,
): Refusal | undefined {
  return refuseWrites(desired, thinPool, observed, begins(desired, bytes), (room) =>
    refuse('ThinPoolFull', { ...room, bytes }),
  );
}

/** Returns the pool that a Volume requests, as refusals name it. */
export const poolWanted = ({ thinPool }: DesiredLvm): string =>
  thinPool === undefined ? 'a volume outside a thin pool' : `the thin pool ${thinPool}`;

/** Room in a thin pool, and the room that a write needs, in bytes. */
interface Room {
  pool: string;
  left: bigint;
  size: bigint;
  needed: bigint;
}

/**
 * Refuses a write for which a thin pool lacks room: a full pool loses writes of all its volumes.
 * @param full returns the refusal for a full pool
 */
export function refuseWrites(
  desired: Pick<DesiredLvm, 'vgName'>,
  thinPool: string,
  { volumes }: Pick<ObservedLvm, 'volumes'>,
  needed: bigint,
  full: (room: Room) => Refused,
): Refusal | undefined {
  const name = lvName(desired, thinPool);
  const pool = poolOf({ volumes }, thinPool);
  if (pool === undefined || pool.kind !== 't') {
    const code = pool === undefined ? 'ThinPoolMissing' : 'NoThinPool';
    return refuse(code, { pool: name, name: thinPool, group: desired.vgName });
  }
  const ill = refuseIll(desired, pool);
  if (ill !== undefined) return ill;
  if (fullnessOf(pool) > fullest(pool, needed)) {
    const left = pool.sizeBytes - usedOf(pool);
    return full({ pool: name, left, size: pool.sizeBytes, needed });
  }
  const percent = pool.metadataPercent ?? 0;
  return percent < MAX_METADATA
    ? undefined
    : refuse('ThinPoolMetadataFull', { pool: name, percent });
}

import { refuse } from '../../api/reasons.ts';
import { tooSmall } from '../mkfs.ts';
import type { DesiredLvm, ObservedLvm, Refusal } from '../types.ts';
import { contentOf, extentsIn, FREE_EXTENTS, isAmbivalent, rangeOf } from './content.ts';
import type { VolumeGroup } from './facts.ts';
import { extentsFor, refuseChange } from './group.ts';
import { lvName } from './names.ts';
import { illness, isUnknown, poolOf, usedOf } from './pool.ts';
import { fullest, fullnessOf, MAX_METADATA } from './room.ts';

const MIB = 1n << 20n;

/** Why no logical volume may be made; undefined when it may. */
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
  const name = lvName({ vgName }, thinPool);
  return {
    refusal: `the thin pool ${name} was made with --zero n, so a volume of mode Block would show what earlier volumes left in it`,
    hint: `Have LVM zero what it hands out: lvchange --zero y ${name}. Or use a pool that was made without --zero n.`,
  };
}

function refuseRoom(
  desired: DesiredLvm,
  { free }: ObservedLvm,
  group: VolumeGroup,
): Refusal | undefined {
  const wanted = extentsFor(desired, group);
  const { name, extentBytes } = group;
  const usable = extentsIn(free);
  // What was looked into is no more than is needed.
  const freeExtents = usable < wanted && usable < group.freeExtents ? usable : group.freeExtents;
  if (wanted <= freeExtents) return undefined;
  return {
    refusal: `the volume group ${name} has ${freeExtents * extentBytes} bytes left, and the Volume needs ${wanted * extentBytes}`,
    hint: 'Add a disk to it (vgextend), remove what is not needed, or make the Volume smaller.',
  };
}

/** What blkid finds in free extents is left of earlier owners, or a copy that pvmove left. */
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

/** Where blkid names nothing, nobody knows what a consent would destroy. */
function ambivalence({ vgName, name }: DesiredLvm, free: ObservedLvm['free']): Refusal {
  return refuse('FreeExtentsAmbivalent', {
    group: vgName,
    overwrite: JSON.stringify(FREE_EXTENTS),
    temporary: `${name}-look`,
    extents: extentsIn(free),
    ranges: free.map(rangeOf).join(' '),
  });
}

/** What was given for consent, and is none. */
function consentGiven({ overwrite, forced }: DesiredLvm) {
  if (overwrite !== undefined) return { consent: JSON.stringify(overwrite) };
  return forced ? { annotation: refuse('AnnotationIsNoConsent').refusal } : {};
}

/** What a file system of that many bytes writes when it is made: its log, and a part of its tables. */
export const written = (bytes: bigint): bigint => 64n * MIB + bytes / 50n;

/** What making a volume of that many bytes ready writes. */
export function begins({ mode }: DesiredLvm, bytes: bigint): bigint {
  const begun = mode === 'Filesystem' ? written(bytes) : 1n;
  return begun < bytes ? begun : bytes;
}

/** Why a thin pool does not take a volume of that many bytes, and what making it ready writes. */
export function refusePool(
  desired: DesiredLvm,
  thinPool: string,
  observed: ObservedLvm,
  bytes: bigint,
): Refusal | undefined {
  const needed = begins(desired, bytes);
  return refuseWrites(
    desired,
    thinPool,
    observed,
    needed,
    `a volume of ${bytes} is begun with ${needed}`,
  );
}

/**
 * Why nothing is written through a thin pool: where it has no room for it, all of its volumes lose what is written.
 * @param needed bytes, which `what` tells of
 */
export function refuseWrites(
  desired: Pick<DesiredLvm, 'vgName'>,
  thinPool: string,
  { volumes }: Pick<ObservedLvm, 'volumes'>,
  needed: bigint,
  what: string,
): Refusal | undefined {
  const { vgName } = desired;
  const name = lvName(desired, thinPool);
  const pool = poolOf({ volumes }, thinPool);
  if (pool === undefined || pool.kind !== 't') {
    return {
      refusal: pool === undefined ? `there is no thin pool ${name}` : `${name} is no thin pool`,
      hint: `Make it: lvcreate --type thin-pool -L SIZE -n ${thinPool} ${vgName}. Or leave thinPool out.`,
    };
  }
  const ill = illness(pool);
  if (ill !== undefined) {
    const hint = `Look at it first: lvs -a ${vgName}.`;
    // Another command of LVM may be at work in it.
    return {
      refusal: `the thin pool ${name} ${ill}`,
      hint,
      retryable: pool.suspended || isUnknown(pool),
    };
  }
  const left = pool.sizeBytes - usedOf(pool);
  if (fullnessOf(pool) > fullest(pool, needed)) {
    return {
      refusal: `the thin pool ${name} has ${left} bytes left of ${pool.sizeBytes}, and ${what}`,
      hint: `Make the pool larger (lvextend ${name}), or remove what is not needed.`,
    };
  }
  if ((pool.metadataPercent ?? 0) >= MAX_METADATA) {
    return {
      refusal: `the metadata of the thin pool ${name} are full to ${pool.metadataPercent} percent`,
      hint: `Make them larger: lvextend --poolmetadatasize +SIZE ${name}. A pool whose metadata are full loses what is written.`,
    };
  }
  return undefined;
}

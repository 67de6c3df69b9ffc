import { DNS_SUBDOMAIN, isDnsSubdomain } from '../../api/dns-name.ts';
import { isLvmName, LVM_NAME, MAX_LVM_NAME } from '../../api/lvm-name.ts';
import { FORCE_LVCREATE_ANNOTATION } from '../../api/names.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import { type SnapshotHandle, snapshotLvName } from '../../api/snapshot-handle.ts';
import { sizeProblems } from '../../api/spec-problems.ts';
import type { Volume, VolumeSpec } from '../../api/volume.ts';
import type { DesiredContext } from '../driver.ts';
import type { DesiredLvm, Source, ThinSource } from '../types.ts';
import { lvPath, poolPath } from './names.ts';

export function specProblems({ metadata: { name }, spec }: Volume): string[] {
  if (spec.lvmLogicalVolume == null) return [];
  const reserved =
    !isDnsSubdomain(name) || /^(snapshot|pvmove)/.test(name) || name.length > MAX_LVM_NAME;
  return [
    ...groupProblems(spec),
    ...sizeProblems('lvmLogicalVolume.size', spec.lvmLogicalVolume.size),
    ...(reserved
      ? [
          `metadata.name is ${JSON.stringify(name)}, but LVM does not accept that name for the logical volume: it must have ${DNS_SUBDOMAIN}, not begin with snapshot or pvmove, nor be longer than ${MAX_LVM_NAME}`,
        ]
      : []),
  ];
}

function groupProblems({ lvmLogicalVolume }: VolumeSpec): string[] {
  const { vgName, thinPool } = lvmLogicalVolume ?? {};
  return [
    ...lvmNameProblems('vgName', vgName),
    ...(thinPool == null ? [] : lvmNameProblems('thinPool', thinPool)),
  ];
}

function lvmNameProblems(field: string, name: unknown): string[] {
  if (typeof name === 'string' && isLvmName(name)) return [];
  return [`spec.lvmLogicalVolume.${field} is ${JSON.stringify(name)}, but must be ${LVM_NAME}`];
}

export const hasPlace = (spec: VolumeSpec): boolean => groupProblems(spec).length === 0;

export function desired({
  volume: { metadata, spec, status },
  common,
  sizeBytes,
  from,
  isForClaim,
}: DesiredContext): DesiredLvm {
  const { vgName = '', thinPool } = spec.lvmLogicalVolume ?? {};
  return {
    ...common,
    type: 'lvm',
    vgName,
    thinPool,
    sizeBytes,
    overwrite: spec.overwrite,
    forced: metadata.annotations?.[FORCE_LVCREATE_ANNOTATION] !== undefined,
    identity: status?.prepared?.identity,
    source: from !== undefined && 'vgName' in from ? from : undefined,
    // A pod can read every byte of such a device, including old data.
    ...(isForClaim && common.mode === 'Block' && !common.fill ? { zeroed: true } : {}),
  };
}

export const describe = ({ lvmLogicalVolume }: VolumeSpec): [string, string | undefined][] => [
  ['Volume group', lvmLogicalVolume?.vgName],
  ['Thin pool', lvmLogicalVolume?.thinPool],
];

export const summarize = ({ lvmLogicalVolume }: VolumeSpec): string =>
  `a logical volume of ${lvmLogicalVolume?.size} in ${lvmLogicalVolume?.vgName}`;

export const overwritten = ({ lvmLogicalVolume }: VolumeSpec): string =>
  `in the free extents of the volume group ${lvmLogicalVolume?.vgName}`;

/**
 * Reports whether the volume exposes old data. Extents keep the bytes of earlier logical volumes; a
 * file system never shows bytes that it did not write.
 */
export const exposesOldData = ({ mode, lvmLogicalVolume }: VolumeSpec): boolean =>
  mode === 'Block' && lvmLogicalVolume?.thinPool == null;

export const roomCommand = ({ lvmLogicalVolume }: VolumeSpec): string[] => [
  'vgs',
  lvmLogicalVolume?.vgName ?? '',
];

export const pool = ({ lvmLogicalVolume }: VolumeSpec): string | undefined =>
  lvmLogicalVolume == null ? undefined : poolPath(lvmLogicalVolume);

/** Reports whether the path is the Volume's: a logical volume is named after its Volume. */
export const isPlaceOf = ({ metadata, spec }: Volume, path: string): boolean =>
  path === lvPath({ vgName: spec.lvmLogicalVolume?.vgName ?? '', name: metadata.name });

export const holdsData = (_spec: VolumeSpec, path: string | undefined) => ({
  what: path === undefined ? 'its logical volume' : `its logical volume ${path}`,
  own: true,
});

export function startProblem(
  { lvmLogicalVolume }: VolumeSpec,
  from: Source | ThinSource,
): string | undefined {
  if ('file' in from)
    return `its source is the file ${from.file}, and a logical volume can only be created from a logical volume`;
  return lvmLogicalVolume?.thinPool == null
    ? 'it requests a logical volume outside a thin pool, and only thin volumes can be created from another'
    : undefined;
}

export const asSource = ({ vgName, name, uid, mode }: DesiredLvm): ThinSource => ({
  ...{ what: 'volume', vgName, name, uid, mode },
});

/** Returns the handle of a snapshot, which is made in the volume's thin pool. */
export const snapshotPlace = (
  { name, vgName, thinPool }: DesiredLvm,
  [node = '']: readonly string[],
  contentUid: string,
): SnapshotHandle | Explanation =>
  thinPool === undefined
    ? explain('SnapshotsOfThickNone', { volume: name })
    : { type: 'lvm', nodes: [node], vgName, name: snapshotLvName(contentUid) };

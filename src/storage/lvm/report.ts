import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { notUnderstood, ObservationError, succeeded } from '../probe-results.ts';
import type { FreeExtents, LogicalVolume, VolumeGroup } from './facts.ts';
import type { View } from './view.ts';

type Words = Pick<View, 'words'>;

/** Returns an LVM command for rows of strings (lvmreport(7)), in bytes for any lvm.conf. */
const report = (
  program: string,
  { words }: Words,
  fields: readonly string[],
  ...more: string[]
): string[] => [
  program,
  ...words,
  ...more,
  '--reportformat',
  'json',
  '--units',
  'b',
  '--nosuffix',
  '-o',
  fields.join(','),
];

const VG_FIELDS = ['vg_name', 'vg_uuid', 'vg_attr', 'vg_extent_size', 'vg_free_count'] as const;
const LV_FIELDS = [
  'lv_name',
  'lv_uuid',
  'lv_attr',
  'lv_size',
  'lv_tags',
  'pool_lv',
  'origin',
  'lv_kernel_major',
  'lv_kernel_minor',
  'data_percent',
  'metadata_percent',
  'lv_layout',
  'vg_uuid',
] as const;
const DISK_FIELDS = ['vg_uuid', 'pv_name'] as const;
const PV_FIELDS = [
  'vg_uuid',
  'pv_name',
  'pv_attr',
  'pe_start',
  'pvseg_start',
  'pvseg_size',
  'segtype',
] as const;

/** Returns probes of all groups and their disks, for which a missing group is no failure. */
export const groupProbes = (view: Words): Probe[] => [
  { name: 'groups', argv: report('vgs', view, VG_FIELDS) },
  { name: 'disks', argv: report('pvs', view, DISK_FIELDS) },
];

/**
 * Returns a probe of the volumes of all groups with the name. Given the name itself, LVM lists none
 * if two groups share it.
 */
export const volumesProbe = (view: Words, vgName: string): Probe => ({
  name: 'logical volumes',
  argv: [...report('lvs', view, LV_FIELDS), '--select', `vg_name=${vgName}`],
});

export const segmentsProbe = (view: Words): Probe => ({
  name: 'segments',
  argv: report('pvs', view, PV_FIELDS, '--segments'),
});

type Get = (name: string) => ProbeResult;

/** @throws ObservationError if LVM fails, or its report cannot be parsed */
export const readGroups = (get: Get, view: View, vgName: string): VolumeGroup[] =>
  readAllGroups(get, view).filter(({ name }) => name === vgName);

/**
 * Returns all groups except those on devices of Volumes.
 * @throws ObservationError if LVM fails, or its report cannot be parsed
 */
export function readAllGroups(get: Get, view: View): VolumeGroup[] {
  const disks = rows<(typeof DISK_FIELDS)[number], [string, string]>('pv', get('disks'), (row) => [
    row.vg_uuid,
    row.pv_name,
  ]);
  const found = rows<(typeof VG_FIELDS)[number], VolumeGroup>('vg', get('groups'), (row) => ({
    name: row.vg_name,
    uuid: row.vg_uuid,
    readOnly: row.vg_attr[0] !== 'w',
    exported: row.vg_attr[2] === 'x',
    partial: row.vg_attr[3] === 'p',
    shared: row.vg_attr[5] === 'c' || row.vg_attr[5] === 's',
    extentBytes: BigInt(row.vg_extent_size),
    freeExtents: BigInt(row.vg_free_count),
    // LVM has no path of a missing disk.
    disks: disks.flatMap(([uuid, path]) =>
      uuid === row.vg_uuid && path.startsWith('/dev/') ? [path] : [],
    ),
  }));
  return found.filter((group) => !group.disks.some(view.hides));
}

/**
 * Reads the logical volumes of a group. The fifth letter of lvs(8), Attr, is `-` for inactive. For
 * suspended it is s, S, M or C, and for a device without a table d or i.
 * @throws ObservationError if LVM fails, or its report cannot be parsed
 */
export function readVolumes(
  result: ProbeResult,
  group: Pick<VolumeGroup, 'uuid'>,
): LogicalVolume[] {
  const volumes = rows<(typeof LV_FIELDS)[number], LogicalVolume | undefined>(
    'lv',
    result,
    (row) => (row.vg_uuid.length > 0 && row.vg_uuid === group.uuid ? volumeOf(row) : undefined),
  ).filter((volume) => volume !== undefined);
  // `pool_lv` also names the pool of a cache. Thin volumes with snapshots may have another kind.
  const thinPools = volumes.filter(({ kind }) => kind === 't').map(({ name }) => name);
  return volumes.map((each) =>
    each.kind === 'V' || thinPools.includes(each.pool ?? '') ? each : { ...each, pool: undefined },
  );
}

/** @throws Error for an invalid number */
function volumeOf(row: Record<(typeof LV_FIELDS)[number], string>): LogicalVolume {
  return {
    name: row.lv_name,
    uuid: row.lv_uuid,
    kind: row.lv_attr[0] ?? '',
    writable: row.lv_attr[1] === 'w',
    active: row.lv_attr[4] !== '-',
    suspended: 'sSMCdi'.includes(row.lv_attr[4] ?? ''),
    open: row.lv_attr[5] === 'o',
    health: row.lv_attr[8] ?? '',
    zeroes: row.lv_attr[7] === 'z',
    sizeBytes: BigInt(row.lv_size),
    tags: row.lv_tags.split(',').filter((tag) => tag !== ''),
    pool: row.pool_lv || undefined,
    origin: row.origin || undefined,
    device:
      Number(row.lv_kernel_major) < 0 ? undefined : `${row.lv_kernel_major}:${row.lv_kernel_minor}`,
    dataPercent: percent(row.data_percent),
    metadataPercent: percent(row.metadata_percent),
    striped: row.lv_layout.split(',').includes('striped'),
  };
}

/**
 * Returns allocatable free extents, the largest piece first, as LVM does itself.
 * @throws ObservationError if LVM fails, or its report cannot be parsed
 */
export function readFreeExtents(
  result: ProbeResult,
  { uuid, extentBytes }: VolumeGroup,
): FreeExtents[] {
  return rows<(typeof PV_FIELDS)[number], FreeExtents | undefined>('pvseg', result, (row) => {
    const usable = row.pv_attr[0] === 'a' && row.pv_attr[2] !== 'm';
    if (row.vg_uuid !== uuid || row.segtype !== 'free' || !usable) return undefined;
    const first = BigInt(row.pvseg_start);
    const count = BigInt(row.pvseg_size);
    const offsetBytes = BigInt(row.pe_start) + first * extentBytes;
    return { pv: row.pv_name, first, count, offsetBytes, sizeBytes: count * extentBytes };
  })
    .filter((extents) => extents !== undefined)
    .sort((a, b) => Number(b.count - a.count));
}

/**
 * Returns the size of a group in bytes: all extents of its disks that are present.
 * @param result answer of `segmentsProbe`
 * @throws ObservationError if LVM fails, or its report cannot be parsed
 */
export function readGroupBytes(
  result: ProbeResult,
  { uuid, extentBytes }: Pick<VolumeGroup, 'uuid' | 'extentBytes'>,
): bigint {
  const counts = rows<(typeof PV_FIELDS)[number], bigint>('pvseg', result, (row) =>
    row.vg_uuid === uuid ? BigInt(row.pvseg_size) : 0n,
  );
  return counts.reduce((all, count) => all + count, 0n) * extentBytes;
}

/**
 * Returns a percentage; undefined for an inactive volume.
 * @throws Error for an invalid percentage
 */
function percent(text: string): number | undefined {
  if (text === '') return undefined;
  if (!/^\d{1,3}(\.\d+)?$/.test(text)) throw new Error(`${JSON.stringify(text)} is no percentage`);
  return Number(text);
}

/** Removes LVM's messages between the lines of a report, such as "Retrying metadata scan.". */
const withoutWords = (stdout: string): string =>
  stdout
    .split('\n')
    .filter((line) => !/^\s*[A-Za-z]/.test(line))
    .join('\n');

/** @throws ObservationError if LVM fails, or its report cannot be parsed */
function rows<K extends string, T>(
  key: string,
  result: ProbeResult,
  read: (row: Record<K, string>) => T,
): T[] {
  const stdout = succeeded(`LVM's report of each ${key}`, result);
  try {
    const [found] = (
      JSON.parse(withoutWords(stdout)) as { report: Record<string, Record<K, string>[]>[] }
    ).report;
    const listed = found?.[key];
    // LVM prints an empty list if there are none.
    if (!Array.isArray(listed)) throw new Error(`the list of each ${key} is missing`);
    return listed.map(read);
  } catch (cause) {
    throw new ObservationError(notUnderstood('LVM', cause), cause);
  }
}

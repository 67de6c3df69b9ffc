import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { notUnderstood, ObservationError, succeeded } from '../probe-results.ts';
import type { FreeExtents, LogicalVolume, VolumeGroup } from './facts.ts';
import type { View } from './view.ts';

type Words = Pick<View, 'words'>;

/** lvmreport(7): rows of texts, sizes as plain bytes whatever lvm.conf says. */
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

/** All groups, and the disks of each: one that is not there is none of them, and no failure. */
export const groupProbes = (view: Words): Probe[] => [
  { name: 'groups', argv: report('vgs', view, VG_FIELDS) },
  { name: 'disks', argv: report('pvs', view, DISK_FIELDS) },
];

/** Those of each group that has the name: LVM lists none where it is asked for a name that two have. */
export const volumesProbe = (view: Words, vgName: string): Probe => ({
  name: 'logical volumes',
  argv: [...report('lvs', view, LV_FIELDS), '--select', `vg_name=${vgName}`],
});

export const segmentsProbe = (view: Words): Probe => ({
  name: 'segments',
  argv: report('pvs', view, PV_FIELDS, '--segments'),
});

type Get = (name: string) => ProbeResult;

/** @throws ObservationError for what is not understood */
export const readGroups = (get: Get, view: View, vgName: string): VolumeGroup[] =>
  readAllGroups(get, view).filter(({ name }) => name === vgName);

/** Without those that are on devices of Volumes. @throws ObservationError for what is not understood */
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
    // Of one that is away LVM has no path.
    disks: disks.flatMap(([uuid, path]) =>
      uuid === row.vg_uuid && path.startsWith('/dev/') ? [path] : [],
    ),
  }));
  return found.filter((group) => !group.disks.some(view.hides));
}

/**
 * lvs(8), Attr: the fifth is `-` for inactive, one of s, S, M and C for suspended, d or i for a device without a table.
 * @throws ObservationError for what is not understood
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
  // LVM calls the pool of a cache so as well. A thin volume that has snapshots is of another kind than others.
  const thinPools = volumes.filter(({ kind }) => kind === 't').map(({ name }) => name);
  return volumes.map((each) =>
    each.kind === 'V' || thinPools.includes(each.pool ?? '') ? each : { ...each, pool: undefined },
  );
}

/** @throws Error for a number that is none */
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

/** Free extents that may be taken, the most first, as LVM itself does it. @throws ObservationError */
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

/** Nothing of what is inactive. @throws Error */
function percent(text: string): number | undefined {
  if (text === '') return undefined;
  if (!/^\d{1,3}(\.\d+)?$/.test(text)) throw new Error(`${JSON.stringify(text)} is no percentage`);
  return Number(text);
}

/** LVM prints some of what it has to say between the lines of a report, such as "Retrying metadata scan.". */
const withoutWords = (stdout: string): string =>
  stdout
    .split('\n')
    .filter((line) => !/^\s*[A-Za-z]/.test(line))
    .join('\n');

/** @throws ObservationError for a report that LVM failed to make, or that is not understood */
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
    // Where there are none, LVM prints an empty list.
    if (!Array.isArray(listed)) throw new Error(`there is no list of each ${key}`);
    return listed.map(read);
  } catch (cause) {
    throw new ObservationError(notUnderstood('LVM', cause), cause);
  }
}

import type { Probe, ProbeResult } from '../nodes/job.ts';
import { list, truthy } from './json-rows.ts';
import { notUnderstood, ObservationError, succeeded } from './probe-results.ts';

/**
 * Disk or partition of a node, as listed for users who look for a free one. No decision depends on
 * it.
 */
export interface OfferedDevice {
  /** Path by kernel name, under /dev: after a reboot it may be another device's. */
  path: string;
  /** Persistent links of udev to the device, the best name first. */
  links: string[];
  model?: string;
  sizeBytes: bigint;
  /**
   * Signature or partition table, as `create volume --overwrite` names it; undefined if lsblk finds
   * none.
   */
  carries?: string;
  /** Visible use of the device; undefined if there is none. */
  usedFor?: string;
}

const COLUMNS = 'KNAME,PKNAME,TYPE,SIZE,RO,MODEL,FSTYPE,UUID,PTTYPE,MOUNTPOINT';

export type OfferedProbe = 'offered devices' | 'offered links';

/**
 * Returns read-only probes. A device made of a disk is a row of its own that names the disk;
 * without the column NAME lsblk prints no tree.
 */
export const offeredProbes = (): (Probe & { name: OfferedProbe })[] => [
  { name: 'offered devices', argv: ['lsblk', '-J', '-b', '-o', COLUMNS] },
  {
    name: 'offered links',
    argv: ['find', '/dev/disk/by-id', '/dev/disk/by-path', '-type', 'l', '-printf', '%p %l\\n'],
  },
];

interface Row {
  kname: string;
  pkname: string | null;
  type: string | null;
  size: string | null;
  ro: boolean | string;
  model: string | null;
  fstype: string | null;
  uuid: string | null;
  pttype: string | null;
  mountpoint: string | null;
}

/**
 * Returns disks and their partitions, in the order of lsblk. Omits loop devices, which belong to
 * sparse volumes.
 * @throws ObservationError if the output of lsblk is unusable
 */
export function readOffered(get: (probe: OfferedProbe) => ProbeResult): OfferedDevice[] {
  const printed = succeeded('the devices', get('offered devices'));
  // find fails if one of the directories is missing: a device without a link goes by its kernel
  // name.
  const links = readLinks(get('offered links').stdout);
  let rows: Row[];
  try {
    rows = list<Row>(printed, 'blockdevices');
  } catch (cause) {
    throw new ObservationError(notUnderstood('lsblk', cause), cause);
  }
  const devices = [...new Map(rows.map((row) => [row.kname, row])).values()];
  return devices.flatMap((row) =>
    offered(
      row,
      rows.filter(({ pkname }) => pkname === row.kname),
      links.get(row.kname) ?? [],
    ),
  );
}

function offered(row: Row, children: readonly Row[], links: string[]): OfferedDevice[] {
  // Checks the name, since some kernels do not report a partition's disk to lsblk.
  if (row.kname.startsWith('loop')) return [];
  // A drive without a medium has no bytes.
  if ((row.type !== 'disk' && row.type !== 'part') || Number(row.size) === 0) return [];
  const carries = carried(row);
  const usedFor = useOf(row, children);
  const model = row.model?.trim();
  return [
    {
      path: `/dev/${row.kname}`,
      links,
      ...(model && { model }),
      sizeBytes: BigInt(row.size ?? 0),
      ...(carries !== undefined && { carries }),
      ...(usedFor !== undefined && { usedFor }),
    },
  ];
}

/** Links derived from the content of a device, which vanish with it. */
const OF_CONTENT = /^\/dev\/disk\/by-id\/(lvm-pv-uuid|md|dm)-/;

/**
 * Returns links by the kernel name of their target, the most telling first: model and serial
 * number, then identifiers, then the slot.
 */
function readLinks(printed: string): Map<string, string[]> {
  const rank = (link: string) =>
    link.startsWith('/dev/disk/by-path/')
      ? 2
      : /\/(wwn-|nvme-(eui|uuid|nguid)\.)/.test(link)
        ? 1
        : 0;
  const found = new Map<string, string[]>();
  for (const line of printed.split('\n')) {
    const [, link, kname] =
      /^(\/dev\/disk\/by-(?:id|path)\/[^ /]+) \.\.\/\.\.\/([^ /]+)$/.exec(line) ?? [];
    if (link === undefined || kname === undefined || OF_CONTENT.test(link)) continue;
    found.set(kname, [...(found.get(kname) ?? []), link]);
  }
  for (const links of found.values())
    links.sort((a, b) => rank(a) - rank(b) || a.length - b.length || (a < b ? -1 : 1));
  return found;
}

/** Returns the content. For a partition, lsblk's PTTYPE is that of its disk. */
function carried({ type, fstype, uuid, pttype }: Row): string | undefined {
  if (fstype) return uuid ? `${fstype}:${uuid}` : fstype;
  return type === 'disk' && pttype ? pttype : undefined;
}

function useOf({ mountpoint, ro }: Row, children: readonly Row[]): string | undefined {
  if (mountpoint) return mountpoint === '[SWAP]' ? 'swap' : `mounted at ${mountpoint}`;
  if (children.some(({ type }) => type === 'part')) return 'has partitions';
  const [child] = children;
  if (child !== undefined) return `held by ${child.type ?? 'device'} ${child.kname}`;
  return truthy(ro) ? 'read-only' : undefined;
}

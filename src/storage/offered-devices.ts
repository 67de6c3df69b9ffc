import type { Probe, ProbeResult } from '../nodes/job.ts';
import { list, truthy } from './json-rows.ts';
import { notUnderstood, ObservationError, succeeded } from './probe-results.ts';

/** A disk or partition of a node, as it is shown to who looks for one that is free. Nothing is decided by it. */
export interface OfferedDevice {
  /** The kernel's name, under /dev: after a reboot it may be another device's. */
  path: string;
  /** udev's links to it that last, the one to name it by first. */
  links: string[];
  model?: string;
  sizeBytes: bigint;
  /** A signature or a partition table, as `create volume --overwrite` calls it; undefined: nothing that lsblk knows of. */
  carries?: string;
  /** What it is used for; undefined where nothing shows. */
  usedFor?: string;
}

const COLUMNS = 'KNAME,PKNAME,TYPE,SIZE,RO,MODEL,FSTYPE,UUID,PTTYPE,MOUNTPOINT';

export type OfferedProbe = 'offered devices' | 'offered links';

/** Reads only. What is made of a disk is a row of its own, which names it; without the column NAME lsblk prints no tree. */
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
 * Disks and their partitions, in the order of lsblk. Loop devices are left out: those of a node are of its sparse volumes.
 * @throws ObservationError where it can't be told
 */
export function readOffered(get: (probe: OfferedProbe) => ProbeResult): OfferedDevice[] {
  const printed = succeeded('the devices', get('offered devices'));
  // It fails where one of the folders is not there: without a link a device goes by the kernel's name.
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
  // Not all kernels tell lsblk whose a partition is.
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

/** Of what is on the device, and gone with it. */
const OF_CONTENT = /^\/dev\/disk\/by-id\/(lvm-pv-uuid|md|dm)-/;

/** Links by the kernel's name of what they lead to, those that tell a person most first: model and serial, numbers, the place it is plugged in. */
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

/** Of a partition, lsblk's PTTYPE is that of its disk. */
function carried({ type, fstype, uuid, pttype }: Row): string | undefined {
  if (fstype) return uuid ? `${fstype}:${uuid}` : fstype;
  return type === 'disk' && pttype ? pttype : undefined;
}

function useOf({ mountpoint, ro }: Row, children: readonly Row[]): string | undefined {
  if (mountpoint) return mountpoint === '[SWAP]' ? 'swap' : `mounted at ${mountpoint}`;
  if (children.some(({ type }) => type === 'part')) return 'it has partitions';
  const [child] = children;
  if (child !== undefined) return `${child.type ?? 'a device'} ${child.kname} is made of it`;
  return truthy(ro) ? 'it is read-only' : undefined;
}

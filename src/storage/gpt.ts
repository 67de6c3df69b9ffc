/** Start (bytes) of the partition in a table of Stowage's; the space before it holds the GPT. */
export const GPT_START = 1n << 20n;
const SECTOR = 512n;
/** Space (bytes) after the partition for the backup GPT; a whole MiB keeps the file aligned. */
export const GPT_END = 1n << 20n;

/** Maximum length of a partition's name (UEFI, GPT partition entry). */
const MAX_NAME = 36;

interface Table {
  uid: string;
  name: string;
}

/**
 * Returns the options that mark table and partition as the Volume's. The table's own GUID tells an
 * incomplete table from a foreign one.
 */
const ours = ({ uid, name }: Table): string[] => [
  `--partition-guid=1:${uid}`,
  `--disk-guid=${uid}`,
  `--change-name=1:${name.slice(0, MAX_NAME)}`,
];

/** Returns a command that makes a GPT in a file, with one partition of exactly `sizeBytes`. */
export function newTableInFile(table: Table, sizeBytes: bigint, file: string): string[] {
  return ['sgdisk', '--clear', partition(sizeBytes), ...ours(table), file];
}

/** Returns a command that makes a GPT on a disk, with one partition of maximum size. */
export function newTable(table: Table, device: string): string[] {
  return ['sgdisk', '--clear', '--largest-new=1', ...ours(table), device];
}

/**
 * Returns a command that rewrites table and partition after the device has grown, in one write:
 * same start, same GUID.
 */
export function growTable(table: Table, sizeBytes: bigint, device: string): string[] {
  return [
    'sgdisk',
    '--move-second-header',
    '--delete=1',
    partition(sizeBytes),
    ...ours(table),
    device,
  ];
}

export function setPartitionGuid(number: number, guid: string, disk: string): string[] {
  return ['sgdisk', `--partition-guid=${number}:${guid}`, disk];
}

/**
 * Returns a command that changes the GUIDs of a table and its only partition, and optionally the
 * partition's name.
 */
export function setDiskGuids(guid: string, file: string, name?: string): string[] {
  const named = name === undefined ? [] : [`--change-name=1:${name.slice(0, MAX_NAME)}`];
  return ['sgdisk', `--partition-guid=1:${guid}`, `--disk-guid=${guid}`, ...named, file];
}

/** Returns the option for the partition, from its first to its last sector inclusive. */
function partition(sizeBytes: bigint): string {
  return `--new=1:${GPT_START / SECTOR}:${(GPT_START + sizeBytes) / SECTOR - 1n}`;
}

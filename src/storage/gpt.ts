/** Where a partition of ours begins, in bytes and in sectors; what is before it holds the GPT. */
export const GPT_START = 1n << 20n;
const SECTOR = 512n;
/** Room for the GPT's copy after the partition, in bytes; a whole MiB keeps the file aligned. */
export const GPT_END = 1n << 20n;

/** A partition's name has 36 characters at most (UEFI, GPT partition entry). */
const MAX_NAME = 36;

interface Table {
  uid: string;
  name: string;
}

/** What makes the table and its partition ours: the table's own GUID tells half a table of ours from another's. */
const ours = ({ uid, name }: Table): string[] => [
  `--partition-guid=1:${uid}`,
  `--disk-guid=${uid}`,
  `--change-name=1:${name.slice(0, MAX_NAME)}`,
];

/** Makes a GPT in a file, with one partition of exactly `sizeBytes`. */
export function newTableInFile(table: Table, sizeBytes: bigint, file: string): string[] {
  return ['sgdisk', '--clear', partition(sizeBytes), ...ours(table), file];
}

/** Makes a GPT on a disk, with one partition that is as large as it can be. */
export function newTable(table: Table, device: string): string[] {
  return ['sgdisk', '--clear', '--largest-new=1', ...ours(table), device];
}

/** The same table and partition, after the device has grown: same start, same GUID. One write. */
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

/** Gives a partition another GUID. */
export function setPartitionGuid(number: number, guid: string, disk: string): string[] {
  return ['sgdisk', `--partition-guid=${number}:${guid}`, disk];
}

/** Gives a table in a file, and its one partition, other GUIDs, and the partition maybe another name. */
export function setDiskGuids(guid: string, file: string, name?: string): string[] {
  const named = name === undefined ? [] : [`--change-name=1:${name.slice(0, MAX_NAME)}`];
  return ['sgdisk', `--partition-guid=1:${guid}`, `--disk-guid=${guid}`, ...named, file];
}

/** From the first sector to the last, both included. */
function partition(sizeBytes: bigint): string {
  return `--new=1:${GPT_START / SECTOR}:${(GPT_START + sizeBytes) / SECTOR - 1n}`;
}

import type { BlockDevice, DeviceFacts, Owner } from '../types.ts';

/** Repeated as a guard: whatever it prints must be the same right before a step. */
export const identityProbe = (name: string) => [
  'lsblk',
  '--raw',
  '-n',
  '-d',
  '-b',
  '-o',
  'KNAME,MAJ:MIN,PKNAME,TYPE,SIZE,RO,SERIAL,WWN',
  `/dev/${name}`,
];

/** The kernel's number of a disk since it started; a disk that comes later gets another. */
export const diskseqProbe = (disk: string) => ['cat', `/sys/class/block/${disk}/diskseq`];

/** The number of a device-mapper device is given to another as soon as it is free; this is not. */
export const dmUuidProbe = (name: string) => ['cat', `/sys/class/block/${name}/dm/uuid`];

/** The whole disk that a partition is on; the device itself where it is none. */
export function diskOf(row: BlockDevice, devices: readonly BlockDevice[]): BlockDevice {
  if (row.type !== 'part') return row;
  return devices.find(({ name }) => name === row.parent) ?? row;
}

/** What the maker wrote into the disk, which part of it, and how large it is: `wwn=… serial=… partition=2 size=…`. */
export function identityOf(
  row: BlockDevice,
  disk: BlockDevice,
  partition: number | undefined,
  dmUuid: string | undefined,
): string {
  const facts = {
    wwn: disk.wwn,
    serial: disk.serial,
    dm: dmUuid,
    partition: partition === undefined ? undefined : String(partition),
    size: String(row.sizeBytes),
  };
  return Object.entries(facts)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([key, value]) => `${key}=${encodeURIComponent(value ?? '')}`)
    .join(' ');
}

/**
 * Whether a device can be the one that was recorded: all that both tell is the same, but a size, which can grow (a
 * virtual disk).
 */
export function sameDevice(recorded: string, found: string): boolean {
  const now = facts(found);
  return [...facts(recorded)].every(([key, value]) => {
    const other = now.get(key);
    if (key === 'size') return other !== undefined && BigInt(other) >= BigInt(value);
    return other === undefined || other === value;
  });
}

/** What was recorded of a device, in the Volume's status or in a record on its node. */
type Recorded = NonNullable<Owner['device']>;

/**
 * It is certain that the device is on the disk that was recorded: they share what no other disk has. That nothing
 * speaks against it, as `sameDevice` says, is too little where nothing on the device says whose it is.
 */
export function surelySame(recorded: Recorded, { identity, presence }: DeviceFacts): boolean {
  if (presence !== undefined && presence === recorded.presence) return true;
  const [before, now] = [facts(recorded.identity ?? ''), facts(identity)];
  return ['wwn', 'serial', 'dm'].some((key) => before.has(key) && before.get(key) === now.get(key));
}

/** The device is the one that was recorded, or has it as a partition, or is a partition of it. */
export function overlaps(recorded: Recorded, device: DeviceFacts): boolean {
  if (!surelySame(recorded, device)) return false;
  const numbers = [recorded.identity ?? '', device.identity].map((identity) =>
    facts(identity).get('partition'),
  );
  return numbers.includes(undefined) || numbers[0] === numbers[1];
}

function facts(identity: string): Map<string, string> {
  return new Map(
    identity.split(' ').map((fact) => {
      const at = fact.indexOf('=');
      return [fact.slice(0, at), fact.slice(at + 1)];
    }),
  );
}

import type { BlockDevice } from './types.ts';

/**
 * Result of comparing two devices. `unknown`: no fact that both have decides it. Each caller states
 * which results permit a write; `unknown` never does by itself.
 */
export type Sameness = 'same' | 'different' | 'unknown';

/** Device as it was recorded, or as it is observed now. */
export interface KnownDevice {
  /** Identity in the format of `identityText`. */
  identity?: string | undefined;
  /**
   * Boot ID and diskseq of the disk: no other disk gets both, until the next boot. The same disk
   * gets another diskseq after it was unplugged, so different values prove nothing.
   */
  presence?: string | undefined;
}

/** Facts about a device and the disk that it is on. */
interface Facts {
  /** The whole disk: strong (`wwn`) and weak (`serial`) identifiers. */
  disk: Pick<BlockDevice, 'wwn' | 'serial'>;
  /** Device-mapper UUID, a strong identifier. */
  dmUuid: string | undefined;
  /** For a partition: its number, and its GUID in a GPT. */
  partition: { number: number; guid: string | undefined } | undefined;
  sizeBytes: bigint;
}

/**
 * Returns the identity as recorded, `wwn=… serial=… dm=… partition=… partuuid=… size=…`, without
 * unknown facts.
 */
export function identityText({ disk, dmUuid, partition, sizeBytes }: Facts): string {
  const facts: [string, string | undefined][] = [
    ['wwn', disk.wwn],
    ['serial', disk.serial],
    ['dm', dmUuid],
    ['partition', partition && String(partition.number)],
    ['partuuid', partition?.guid],
    ['size', String(sizeBytes)],
  ];
  return facts
    .flatMap(([key, value]) =>
      value ? [`${key}=${encodeURIComponent(value.toWellFormed())}`] : [],
    )
    .join(' ');
}

/**
 * Compares a recorded device with one that is observed now, in this order:
 * 1. another partition, or less space than recorded: `different`;
 * 2. strong identifiers (WWN, EUI-64, NGUID, device-mapper UUID) that differ, or a device-mapper
 *    UUID against a WWN or serial number: `different`;
 * 3. the same presence: `same`; the same strong identifier: `same`, or `unknown` if their serial
 *    numbers differ;
 * 4. serial numbers that differ: `different`. Equal ones prove nothing: controllers and cheap disks
 *    repeat them;
 * 5. the same GUID in a partition table: `same`;
 * 6. else `unknown`.
 */
export function compareDevice(recorded: KnownDevice, found: KnownDevice): Sameness {
  const before = factsIn(recorded);
  const now = factsIn(found);
  if (recorded.identity !== undefined && before.get('partition') !== now.get('partition'))
    return 'different';
  const [had, has] = [sizeIn(before), sizeIn(now)];
  const isReadable = had !== undefined && has !== undefined;
  if (isReadable && has < had) return 'different';
  const disk = compareDisk(recorded, found);
  // A recorded size that cannot be parsed may exceed the present one.
  if (disk === 'different' || (disk === 'same' && isReadable)) return disk;
  if (!isReadable) return 'unknown';
  const guid = before.get('partuuid');
  return guid !== undefined && guid === now.get('partuuid') && serialsDiffer(before, now) !== true
    ? 'same'
    : 'unknown';
}

/**
 * Compares the whole disks, of which each device may be a partition, as part of `compareDevice`.
 */
export function compareDisk(recorded: KnownDevice, found: KnownDevice): Sameness {
  const before = factsIn(recorded);
  const now = factsIn(found);
  const strong = compareStrong(before, now);
  if (strong === 'different') return 'different';
  if (recorded.presence !== undefined && recorded.presence === found.presence) return 'same';
  const serials = serialsDiffer(before, now);
  if (strong === 'unknown' && serials === true) return 'different';
  return strong === 'same' && serials !== true ? 'same' : 'unknown';
}

/** Compares whether two devices have bytes in common, as a disk and each of its partitions do. */
export function compareBytes(recorded: KnownDevice, found: KnownDevice): Sameness {
  const [one, two] = [recorded, found].map((device) => factsIn(device).get('partition'));
  return one === undefined || two === undefined || one === two
    ? compareDisk(recorded, found)
    : 'different';
}

/**
 * Reports whether two devices share a serial number or strong identifier. Neither proves sameness:
 * serial numbers repeat, and a WWN may come with another serial number.
 */
export function haveCommonIdentifier(recorded: KnownDevice, found: KnownDevice): boolean {
  const [before, now] = [factsIn(recorded), factsIn(found)];
  return serialsDiffer(before, now) === false || compareStrong(before, now) === 'same';
}

/** Reports whether both devices have a WWN and these do not match, or cannot be compared. */
export function haveUnlikeWwns(recorded: KnownDevice, found: KnownDevice): boolean {
  const [one, two] = [recorded, found].map((device) => wwnOf(factsIn(device).get('wwn')));
  return one !== undefined && two !== undefined && compareWwn(one, two) !== 'same';
}

/**
 * Returns the same bytes under other kernel names (see DeviceFacts). These are disks with the WWN
 * of this one, such as the second port of a SAS disk. Different disks with one WWN count too,
 * because nothing tells them apart. Paths below a multipath map are excluded: only the map can use
 * them.
 * @param disk the disk that `device` is a partition of, or `device` itself
 */
export function otherPathsOf(
  device: BlockDevice,
  disk: BlockDevice,
  devices: readonly BlockDevice[],
): BlockDevice[] {
  const wwn = wwnOf(disk.wwn);
  const place = device.name.slice(disk.name.length);
  const disks = devices.filter(({ name, type, wwn: other }) => {
    const found = wwnOf(other);
    const isBelow = devices.some(
      ({ name: above, parent }) => above === device.name && parent === name,
    );
    return (
      type === 'disk' &&
      name !== disk.name &&
      !isBelow &&
      wwn &&
      found &&
      compareWwn(wwn, found) === 'same'
    );
  });
  return disks.flatMap((other) => {
    const parts = devices.filter(({ type, parent }) => type === 'part' && parent === other.name);
    const counterparts = parts.filter(({ name }) => name.slice(other.name.length) === place);
    return [other, ...(device === disk ? parts : counterparts)];
  });
}

/**
 * Returns the record of a recognized device: its present facts, and recorded facts that are missing
 * now. Versions of kernel, udev and firmware format identifiers differently.
 */
export function updateIdentity(recorded: string, found: string): string {
  const now = factsIn({ identity: found });
  const kept = [...factsIn({ identity: recorded })].filter(([key]) => !now.has(key));
  const order = ['wwn', 'serial', 'dm', 'partition', 'partuuid', 'size'];
  return [...now, ...kept]
    .sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join(' ');
}

function compareStrong(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): Sameness {
  const [dm, dmNow] = [before.get('dm'), now.get('dm')];
  if (dm !== undefined || dmNow !== undefined) {
    if (dm !== undefined && dmNow !== undefined) return dm === dmNow ? 'same' : 'different';
    const other = dm === undefined ? before : now;
    return other.has('wwn') || other.has('serial') ? 'different' : 'unknown';
  }
  const [wwn, wwnNow] = [wwnOf(before.get('wwn')), wwnOf(now.get('wwn'))];
  return wwn === undefined || wwnNow === undefined ? 'unknown' : compareWwn(wwn, wwnNow);
}

/**
 * Reports whether the serial numbers differ; undefined if one is missing. Ignores spaces,
 * underscores and case, which depend on the program that reads them.
 */
function serialsDiffer(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): boolean | undefined {
  const [one, two] = [before, now].map((facts) => plain(facts.get('serial') ?? ''));
  return one === '' || two === '' ? undefined : one !== two;
}

interface Wwn {
  /**
   * Namespace of the value; '' if no prefix shows it. Values of two namespaces cannot be compared.
   */
  kind: string;
  value: string;
}

/**
 * Parses a WWN as the kernel (`naa.5000…`, `eui.…`, `uuid.…`, `t10.…`, `nvme.…`) or udev
 * (`0x5000…`) writes it. Returns undefined for a missing WWN, and for zeros, which stand for none.
 */
function wwnOf(text: string | undefined): Wwn | undefined {
  const [, prefix = '', rest = ''] =
    /^(?:(naa|eui|uuid|t10|nvme)\.|0x)?(.*)$/i.exec((text ?? '').trim()) ?? [];
  const value = plain(rest);
  if (/^0*$/.test(value)) return undefined;
  const isHex = /^[0-9a-f]+$/.test(value);
  // An EUI-64 and an NGUID have the same prefix.
  if (prefix.toLowerCase() === 'eui') return { kind: `eui${value.length}`, value };
  return { kind: prefix.toLowerCase() || (isHex ? 'naa' : ''), value };
}

/**
 * Hexadecimal digits of an NAA identifier without the vendor's extension, which some programs omit.
 */
const SHORT_NAA = 16;

function compareWwn(one: Wwn, two: Wwn): Sameness {
  if (one.kind !== two.kind && one.kind !== '' && two.kind !== '') return 'unknown';
  if (one.value === two.value) return 'same';
  const [short = '', long = ''] = [one.value, two.value].sort((a, b) => a.length - b.length);
  return short.length === SHORT_NAA && long.startsWith(short) ? 'unknown' : 'different';
}

const plain = (text: string): string => text.toLowerCase().replace(/[^0-9a-z]/g, '');

function factsIn({ identity = '' }: KnownDevice): Map<string, string> {
  return new Map(
    identity.split(' ').flatMap((fact) => {
      const at = fact.indexOf('=');
      return at < 0 ? [] : [[fact.slice(0, at), decode(fact.slice(at + 1))]];
    }),
  );
}

/**
 * Returns the size (bytes) in an identity, 0 if it has none; undefined if it is no number, because
 * other clients can write it.
 */
function sizeIn(facts: ReadonlyMap<string, string>): bigint | undefined {
  const size = facts.get('size') ?? '0';
  return /^\d{1,30}$/.test(size) ? BigInt(size) : undefined;
}

/** Decodes a value. An invalid escape stays as it is, because other clients can write a status. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

import { refuse } from '../../api/reasons.ts';
import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { blankProbes, readBlank } from '../blank.ts';
import { partitionsOf } from '../block-devices.ts';
import { identityText, otherPathsOf } from '../device-identity.ts';
import { fromHex, readUsage, usageProbes } from '../device-usage.ts';
import { kubeletProbe, readKubelet } from '../kubelet.ts';
import { contentLink, linkOf } from '../links.ts';
import { readTags, tagsProbe } from '../lvm/tags.ts';
import { answersOf, ObservationError, optional, succeeded } from '../probe-results.ts';
import { parseIntent, RECORDS, readRecords, recordProbes } from '../records.ts';
import {
  blkid,
  blkidValues,
  endsReadable,
  entryBlkid,
  ownBlkid,
  readSignature,
} from '../signature.ts';
import type {
  BlockDevice,
  DesiredRaw,
  DeviceFacts,
  DeviceUsage,
  Intent,
  ObservedRaw,
} from '../types.ts';
import { contentText, type Printed } from './content.ts';
import {
  belowProbe,
  diskOf,
  diskseqProbe,
  dmUuidProbe,
  identityProbe,
  wholeDisk,
  wwidProbe,
} from './device-probes.ts';
import { guidProbes, readGuids } from './guids.ts';
import { locate, NO_DISK } from './locate.ts';

type Results = ReadonlyMap<string, ProbeResult>;
type ProbedVolume = Pick<
  DesiredRaw,
  'uid' | 'name' | 'mode' | 'earlierLink' | 'devicePath' | 'kubeletRoot' | 'recorded' | 'identity'
>;

/** Returns the first probes, which only read. */
export const rawProbes = (place: ProbedVolume): Probe[] => [
  { name: 'target', argv: ['stat', '-L', '-c', '%F|%t:%T', '--', place.devicePath] },
  ...nodeProbes(place),
];

/** Returns the first probes that do not depend on the device. */
export function nodeProbes(place: Omit<ProbedVolume, 'devicePath' | 'identity'>): Probe[] {
  return [
    ...recordProbes(place.uid),
    ...usageProbes(),
    kubeletProbe(place),
    othersProbe,
    { name: 'link', argv: ['stat', '-L', '-c', '%t:%T', linkOf(place)] },
    { name: 'content link', argv: ['stat', '-L', '-c', '%t:%T', contentLink(place)] },
    { name: 'udev', argv: ['test', '-S', '/run/udev/control'] },
    { name: 'boot', argv: ['cat', '/proc/sys/kernel/random/boot_id'] },
  ];
}

/**
 * Probe of the intents of all Volumes. Each file's name precedes its content, so that an empty file
 * is seen, and a damaged one can be named.
 */
export const othersProbe: Probe = {
  name: 'others',
  argv: [
    ...['find', `${RECORDS}/`, '-maxdepth', '1', '-name', '*.intent'],
    ...['-printf', '@%f\\n', '-exec', 'cat', '{}', ';'],
  ],
};

/** Reports whether the path led to a device node that had no disk at that moment. */
export function leadsNowhere(
  first: Results,
  desired: Pick<DesiredRaw, 'recorded' | 'identity'>,
): boolean {
  const get = answersOf(first);
  return locate(get, readUsage(get), desired) === NO_DISK;
}

/**
 * Returns probes of a device once it is located; none if there is none. `recorded`: the Volume was
 * provisioned on it. Otherwise its content has an owner, even if no program knows the content.
 */
export function deviceProbes(
  first: Results,
  desired: Pick<DesiredRaw, 'recorded' | 'identity'>,
): Probe[] {
  const get = answersOf(first);
  const users = readUsage(get);
  const located = locate(get, users, desired);
  if (typeof located !== 'object') return [];
  const { row } = located;
  const { recorded } = desired;
  const parts = partitionsOf(row.name, users.devices);
  return [
    { name: 'identity', argv: identityProbe(row.name) },
    { name: 'below', argv: belowProbe(row.name) },
    ...(isMade(recorded, get) ? [] : [row, ...parts].filter(hasBytes).flatMap(blankProbes)),
    ...contentProbes(row),
    ...parts.flatMap(contentProbes),
    ...(isMade(recorded, get)
      ? [{ name: 'own', argv: ownBlkid(`/dev/${row.name}`, 'export') }]
      : []),
    ...(row.type === 'part' ? [] : guidProbes(row)),
    { name: 'partition', argv: ['cat', `/sys/class/block/${row.name}/partition`] },
    { name: 'dm', argv: dmUuidProbe(row.name) },
    { name: 'diskseq', argv: diskseqProbe(wholeDisk(row)) },
    { name: 'wwid', argv: wwidProbe(diskOf(row, users.devices).name) },
    ...namelessLike(diskOf(row, users.devices), users.devices).map(({ name }) => ({
      name: `wwid ${name}`,
      argv: wwidProbe(name),
    })),
    ...(row.type === 'lvm' ? [tagsProbe(row.device)] : []),
  ];
}

/**
 * Returns other NVMe disks that lsblk reports no WWN of, and that may be the same namespace by
 * another path. A reported serial number is that of the subsystem.
 */
const namelessLike = (disk: BlockDevice, devices: readonly BlockDevice[]): BlockDevice[] =>
  devices.filter(
    ({ name, type, wwn, serial }) =>
      type === 'disk' &&
      name.startsWith('nvme') &&
      name !== disk.name &&
      wwn === undefined &&
      (serial === undefined || disk.serial === undefined || serial === disk.serial),
  );

const hasBytes = ({ sizeBytes }: BlockDevice) => sizeBytes > 0n;

const isMade = (recorded: boolean, get: (name: string) => ProbeResult): boolean =>
  recorded || get('done').exit === 0;

const ENDS = ['beginning', 'end'] as const;

const contentProbes = ({ name, sizeBytes, type }: BlockDevice): Probe[] => [
  { name: `blkid ${name}`, argv: blkid(`/dev/${name}`) },
  ...(type === 'part'
    ? [{ name: `entry ${name}`, argv: entryBlkid(`/dev/${name}`, 'export') }]
    : []),
  ...endsReadable(`/dev/${name}`, sizeBytes).map((argv, index) => ({
    name: `${ENDS[index]} ${name}`,
    argv,
  })),
  { name: `wipefs ${name}`, argv: ['wipefs', '-J', '-n', `/dev/${name}`] },
];

/** @throws ObservationError for an answer that leaves open what is on the node */
export function readRaw(desired: ProbedVolume, first: Results, second: Results): ObservedRaw {
  const get = answersOf(first);
  const users = readUsage(get);
  const located = locate(get, users, desired);
  const link = optional('link', get('link'));
  const boot = optional('the boot ID', get('boot'));
  const known = { boot, isMade: isMade(desired.recorded, get) };
  const device = readDeviceAt(located, users, second, known);
  return {
    type: 'raw',
    target: device,
    ...readRecords(get),
    ...users,
    others: readOthers(desired.uid, get),
    link: link === undefined ? undefined : fromHex(link),
    udev: get('udev').exit === 0,
    kubeletFolders: readKubelet(desired, get('kubelet'), users),
  };
}

function readDeviceAt(
  located: ReturnType<typeof locate>,
  users: DeviceUsage,
  second: Results,
  known: { boot: string | undefined; isMade: boolean },
): ObservedRaw['target'] {
  if (located === undefined) return { is: 'missing' };
  if (typeof located === 'string') return { is: 'other', what: located };
  const { row, isElsewhere } = located;
  return { is: 'device', facts: readDevice(row, users, second, known), isElsewhere };
}

function readDevice(
  row: BlockDevice,
  users: DeviceUsage,
  results: Results,
  { boot, isMade }: { boot: string | undefined; isMade: boolean },
): DeviceFacts {
  const get = answersOf(results);
  const contentOf = (each: BlockDevice) => ({
    ...readContent(each, get),
    isBlank: isMade || !hasBytes(each) ? undefined : readBlank(each, get),
  });
  const printed = contentOf(row);
  const listed = diskOf(row, users.devices);
  const named = (each: BlockDevice, answer: string): BlockDevice => {
    const wwid = optional('the WWID', get(answer))?.trim();
    return { ...each, wwn: each.wwn ?? wwid };
  };
  const disk = named(listed, 'wwid');
  const nameless = namelessLike(listed, users.devices);
  const partitions = partitionsOf(row.name, users.devices);
  const children = partitions.map(contentOf);
  const own = results.has('own')
    ? readSignature(get('own'), get(`beginning ${row.name}`))
    : undefined;
  const { entry } = printed;
  const number = optional('the partition', get('partition'));
  const mapperUuid = optional('the device-mapper UUID', get('dm'))?.trim();
  // A map is its disk by another path: its identity is that of the disk, so that the Volume works
  // with and without multipathd.
  const isMap = row.type === 'mpath';
  const dmUuid = isMap ? undefined : mapperUuid;
  const diskseq = optional('the disk sequence number', get('diskseq'));
  const inTable = entry.get('PART_ENTRY_NUMBER');
  const partition =
    number === undefined
      ? undefined
      : {
          number: Number(number),
          inTable: inTable === undefined ? undefined : Number(inTable),
          scheme: entry.get('PART_ENTRY_SCHEME') ?? 'unknown',
          uuid: entry.get('PART_ENTRY_UUID') ?? '',
        };
  return {
    ...row,
    signature: own?.found === 'one' ? own : printed.signature,
    content: contentText(printed, children),
    isBlank: printed.isBlank,
    uuids: [...[printed, ...children].flatMap(({ uuids }) => uuids), ...readTags(results)],
    identity: identityText({
      ...{ disk, dmUuid, sizeBytes: row.sizeBytes },
      partition: partition && {
        number: partition.number,
        guid: partition.scheme === 'gpt' ? partition.uuid : undefined,
      },
    }),
    presence:
      boot === undefined || diskseq === undefined ? undefined : `${boot.trim()}/${diskseq.trim()}`,
    printed: {
      identity: withoutEnd(succeeded('the identity', get('identity'))),
      below: withoutEnd(succeeded('the partitions of the device', get('below'))),
      ...printedContent(printed),
    },
    printedParts: partitions.map(({ name, sizeBytes }, index) => {
      const child = children[index] as (typeof children)[number];
      return { name, sizeBytes, isBlank: child.isBlank, ...printedContent(child) };
    }),
    partition,
    disk: partition === undefined ? undefined : listed,
    tableUuids: readGuids(results),
    dmUuid,
    mapUuid: isMap ? mapperUuid : undefined,
    partitions,
    partitionUuids: children.flatMap(({ entry }) => entry.get('PART_ENTRY_UUID') ?? []),
    otherPaths: otherPathsOf(
      row === listed ? disk : row,
      disk,
      users.devices.map((each) =>
        nameless.includes(each) ? named(each, `wwid ${each.name}`) : each,
      ),
    ),
  };
}

const printedContent = ({ blkid, blkidExit, wipefs }: Content) => ({
  blkid: withoutEnd(blkid),
  blkidExit,
  wipefs: withoutEnd(wipefs),
});

/**
 * Removes the newlines at the end, as a precondition does, but no spaces, which stand for empty
 * columns.
 */
const withoutEnd = (text: string) => text.replace(/\n+$/, '');

interface Content extends Omit<Printed, 'isBlank'> {
  /** For a partition: its entry in the table, as blkid names the values. */
  entry: ReadonlyMap<string, string>;
}

function readContent({ name, type }: BlockDevice, get: (name: string) => ProbeResult): Content {
  const blkid = get(`blkid ${name}`);
  succeeded(`the end of /dev/${name}`, get(`end ${name}`));
  const signature = readSignature(blkid, get(`beginning ${name}`));
  const entry = readEntry(type === 'part' ? get(`entry ${name}`) : undefined);
  const values = new Map([...blkidValues(blkid.stdout), ...entry]);
  const number = entry.get('PART_ENTRY_NUMBER');
  return {
    signature,
    blkid: blkid.stdout,
    blkidExit: blkid.exit,
    wipefs: succeeded(`the signatures of /dev/${name}`, get(`wipefs ${name}`)),
    uuids: ['UUID', 'PTUUID', 'PART_ENTRY_UUID'].flatMap((key) => values.get(key) ?? []),
    number: number === undefined ? undefined : Number(number),
    entry,
  };
}

/**
 * Returns the partition's entry; empty if the table has none by now.
 * @throws ObservationError if it cannot be determined
 */
function readEntry(result: ProbeResult | undefined): Map<string, string> {
  if (result === undefined || result.exit === 2) return new Map();
  return blkidValues(succeeded('the partition', result));
}

/**
 * Returns the intents of other Volumes.
 * @throws ObservationError for a damaged record, which leaves open who owns the device
 */
export function readOthers(uid: string, get: (name: string) => ProbeResult): Intent[] {
  // A record that disappears during the read makes the command fail, and hides no other.
  const text = optional('the records of others', get('others')) ?? get('others').stdout;
  return text
    .split(/^@/m)
    .slice(1)
    .flatMap((each) => {
      const [file = '', ...lines] = each.split('\n');
      const record = lines.join('\n').trim();
      try {
        return file === `${uid}.intent` ? [] : [parseIntent(record)];
      } catch (cause) {
        throw new ObservationError(
          refuse('RecordOfAnotherDamaged', {
            record: `${RECORDS}/${file}`,
            text: JSON.stringify(record.slice(0, 100)),
          }),
          cause,
        );
      }
    });
}

import { describe, expect, test } from '@jest/globals';
import type { ProbeResult } from '../../../src/nodes/job.ts';
import { blankProbes } from '../../../src/storage/blank.ts';
import { deviceProbes, rawProbes, readRaw } from '../../../src/storage/block/observe.ts';
import { observe } from '../../../src/storage/observe.ts';
import { ObservationError } from '../../../src/storage/probe-results.ts';
import type { DesiredRaw } from '../../../src/storage/types.ts';
import { BY_PARTUUID, BY_UUID, byMapper, LINK } from '../../support/link-words.ts';
import { intentFor, rawBlock, rawDesired } from '../../support/raw-input.ts';
import { UID } from '../../support/volume-input.ts';

const result = (exit: number, stdout = '', stderr = ''): ProbeResult => ({ exit, stdout, stderr });
const missing = result(1, '', "stat: cannot statx 'X': No such file or directory");
const TABLE = '60c88b61-1b75-4b53-ae9c-527d8369c8b8';
const PART = '40e162ae-83fa-4338-a322-5ddf937e6ba5';
const FS = '6e1c2b1f-0000-4000-8000-2f2d8f0b7e11';

/** Output of util-linux 2.38 for a disk with a table of one partition. */
const LSBLK = `{
   "blockdevices": [
      {
         "kname": "sdb",
         "maj:min": "8:16",
         "pkname": null,
         "type": "disk",
         "size": 67108864,
         "ro": false,
         "serial": "S1",
         "wwn": "0x5000"
      },{
         "kname": "sdb1",
         "maj:min": "8:17",
         "pkname": "sdb",
         "type": "part",
         "size": 32505856,
         "ro": false,
         "serial": null,
         "wwn": "0x5000"
      }
   ]
}`;
const BLKID_DISK = `DEVNAME=/dev/sdb\nPTUUID=${TABLE}\nPTTYPE=gpt`;
const BLKID_PART = `DEVNAME=/dev/sdb1
UUID=${FS}
VERSION=1.0
BLOCK_SIZE=1024
TYPE=ext4
USAGE=filesystem
PART_ENTRY_SCHEME=gpt
PART_ENTRY_UUID=${PART}
PART_ENTRY_TYPE=0fc63daf-8483-4772-8e79-3d69d8477de4
PART_ENTRY_NUMBER=1
PART_ENTRY_OFFSET=2048
PART_ENTRY_SIZE=63488
PART_ENTRY_DISK=8:16`;
const wipefs = (...rows: object[]) => result(0, JSON.stringify({ signatures: rows }, null, 3));
const WIPEFS_DISK = wipefs(
  { device: 'sdb', offset: '0x200', type: 'gpt', uuid: null, label: null },
  { device: 'sdb', offset: '0x3fffe00', type: 'gpt', uuid: null, label: null },
  { device: 'sdb', offset: '0x1fe', type: 'PMBR', uuid: null, label: null },
);
const WIPEFS_PART = wipefs({
  device: 'sdb1',
  offset: '0x438',
  type: 'ext4',
  uuid: FS,
  label: null,
});

const BELOW = 'sdb 8:16  disk 67108864 0 S1 0x5000\nsdb1 8:17 sdb part 32505856 0  \n';

type Results = Record<string, ProbeResult>;
const FIRST: Results = {
  target: result(0, 'block special file|8:10'),
  intent: missing,
  done: missing,
  wiped: missing,
  records: missing,
  loops: result(0),
  devices: result(0, LSBLK),
  mounts: result(0),
  swaps: missing,
  mappers: missing,
  others: missing,
  link: missing,
  'content link': missing,
  udev: result(0),
  kubelet: result(0, '/dev/null'),
  boot: result(0, 'b00t\n'),
};
const PARTITION = { ...FIRST, target: result(0, 'block special file|8:11') };
const SECOND: Results = {
  identity: result(0, 'sdb 8:16  disk 67108864 0 S1 0x5000'),
  below: result(0, BELOW),
  'blkid sdb': result(0, BLKID_DISK),
  'beginning sdb': result(0),
  'end sdb': result(0),
  'wipefs sdb': WIPEFS_DISK,
  'blkid sdb1': result(0, BLKID_PART),
  'entry sdb1': result(0, BLKID_PART.replace(/UUID=6e.*?filesystem\n/s, '')),
  'beginning sdb1': result(0),
  'end sdb1': result(0),
  'guid 0': result(0, ' 61 8b c8 60 75 1b 53 4b ae 9c 52 7d 83 69 c8 b8\n'),
  'guid 1': result(1, '', 'od: cannot skip'),
  'guid 2': result(0, ' 00 00\n'),
  'guid 3': result(0),
  'wipefs sdb1': WIPEFS_PART,
  partition: missing,
  dm: missing,
  diskseq: result(0, '7\n'),
  wwid: missing,
  ...Object.fromEntries(
    [
      { name: 'sdb', sizeBytes: 67108864n },
      { name: 'sdb1', sizeBytes: 32505856n },
    ].flatMap((device) => blankProbes(device).map(({ name }) => [name, result(0)])),
  ),
};
/** Probes without which a device counts neither as the Volume's nor as attached. */
const NEEDED = Object.keys(SECOND).filter((name) => !name.startsWith('guid'));
const map = (results: Results) => new Map(Object.entries(results));
const read = (first: Results, second: Results, desired: DesiredRaw = rawDesired) =>
  readRaw(desired, map(first), map(second));
function facts(first: Results, second: Results, desired?: DesiredRaw) {
  const { target } = read(first, second, desired);
  if (target.is !== 'device') throw new Error(target.is);
  return target.facts;
}

test('the test data answers every probe of both rounds', () => {
  expect(Object.keys(FIRST).sort()).toEqual(
    rawProbes(rawDesired)
      .map(({ name }) => name)
      .sort(),
  );
  expect(Object.keys(SECOND).sort()).toEqual(
    deviceProbes(map(FIRST), rawDesired)
      .map(({ name }) => name)
      .sort(),
  );
  expect(deviceProbes(map(PARTITION), rawDesired).map(({ name }) => name)).not.toContain(
    'blkid sdb',
  );
});

test('rawProbes passes the device path as one argument, after --', () => {
  const [target] = rawProbes({ ...rawDesired, devicePath: '/dev/-x $(y)' });
  expect(target?.argv.slice(-2)).toEqual(['--', '/dev/-x $(y)']);
});

test('readRaw reads a disk with a partition table', () => {
  expect(facts(FIRST, SECOND)).toMatchObject({
    name: 'sdb',
    device: '8:16',
    sizeBytes: 67108864n,
    signature: { found: 'one', type: 'gpt', uuid: TABLE },
    content: `gpt:${TABLE};1=ext4:${FS}`,
    tableUuids: [TABLE],
    presence: 'b00t/7',
    uuids: [TABLE, FS, PART],
    partitionUuids: [PART],
    identity: 'wwn=0x5000 serial=S1 size=67108864',
    printed: {
      identity: 'sdb 8:16  disk 67108864 0 S1 0x5000',
      below: BELOW.slice(0, -1),
      blkid: BLKID_DISK,
      blkidExit: 0,
      wipefs: WIPEFS_DISK.stdout,
    },
    partition: undefined,
    dmUuid: undefined,
    partitions: [{ name: 'sdb1' }],
    printedParts: [
      { name: 'sdb1', isBlank: true, blkid: BLKID_PART, blkidExit: 0, wipefs: WIPEFS_PART.stdout },
    ],
  });
});

test('readRaw reads a partition with a file system, and an empty one', () => {
  const second = { ...SECOND, partition: result(0, '1') };
  expect(facts(PARTITION, second)).toMatchObject({
    name: 'sdb1',
    content: `ext4:${FS}`,
    identity: `wwn=0x5000 serial=S1 partition=1 partuuid=${PART} size=32505856`,
    partition: { number: 1, scheme: 'gpt', uuid: PART },
    partitions: [],
  });
  const empty = BLKID_PART.replace(/UUID=6e.*?filesystem\n/s, '');
  expect(
    facts(PARTITION, { ...second, 'blkid sdb1': result(0, empty), 'wipefs sdb1': wipefs() }),
  ).toMatchObject({ signature: { found: 'none' }, content: '', uuids: [PART] });
});

test('readRaw reads the table entry of a partition whose content is ambivalent', () => {
  const second = { ...SECOND, partition: result(0, '1'), 'blkid sdb1': result(8) };
  expect(facts(PARTITION, second)).toMatchObject({
    signature: { found: 'ambivalent' },
    partition: { number: 1, inTable: 1, uuid: PART },
  });
});

test('Stowage’s own signature takes precedence on a provisioned volume only', () => {
  const made = { ...rawDesired, recorded: true };
  const luks = result(0, 'DEVNAME=/dev/sdb1\nVERSION=2\nTYPE=crypto_LUKS\nUSAGE=crypto\n');
  const second = { ...SECOND, partition: result(0, '1'), 'blkid sdb1': luks };
  const own = result(0, `DEVNAME=/dev/sdb1\nUUID=${FS}\nTYPE=ext4\n`);
  expect(deviceProbes(map(PARTITION), made)).toContainEqual({
    name: 'own',
    argv: ['blkid', '-p', '-n', 'ext4,xfs', '-o', 'export', '/dev/sdb1'],
  });
  expect(deviceProbes(map(PARTITION), rawDesired).map(({ name }) => name)).not.toContain('own');
  expect(facts(PARTITION, { ...second, own }, made)).toMatchObject({
    signature: { found: 'one', type: 'ext4', uuid: FS },
    content: expect.stringMatching(/^crypto_LUKS/),
  });
  expect(facts(PARTITION, { ...second, own: result(2) }, made)).toMatchObject({
    signature: { found: 'one', type: 'crypto_LUKS' },
  });
});

test('an NVMe namespace is identified by its WWID if lsblk reports no WWN', () => {
  const devices = result(0, LSBLK.replaceAll('"0x5000"', 'null'));
  const second = { ...SECOND, wwid: result(0, 'eui.0025385b71b00001\n') };
  expect(facts({ ...FIRST, devices }, second)).toMatchObject({
    identity: 'wwn=eui.0025385b71b00001 serial=S1 size=67108864',
  });
});

test('other paths of an NVMe namespace are found by WWID if lsblk reports no WWN', () => {
  const nvme = (name: string, device: string, serial: string | null = 'S1') => ({
    ...{ kname: name, 'maj:min': device, pkname: null, type: 'disk', size: 67108864, ro: false },
    ...{ serial, wwn: null },
  });
  const disks = [
    nvme('nvme1n1', '259:1'),
    nvme('nvme1n2', '259:2'),
    nvme('nvme2n1', '259:3', 'S2'),
    nvme('nvme3n1', '259:4', null),
    { ...nvme('sdc', '8:32'), wwn: null },
  ];
  const rename = (text: string) =>
    text.replaceAll('sdb1', 'nvme0n1p1').replaceAll('sdb', 'nvme0n1');
  const { blockdevices } = JSON.parse(rename(LSBLK.replaceAll('"0x5000"', 'null')));
  const devices = result(0, JSON.stringify({ blockdevices: [...blockdevices, ...disks] }));
  const first = { ...FIRST, devices };
  const asked = deviceProbes(map(first), rawDesired).filter(({ name }) => name.startsWith('wwid '));
  expect(asked).toEqual([
    { name: 'wwid nvme1n1', argv: ['cat', '/sys/class/block/nvme1n1/wwid'] },
    { name: 'wwid nvme1n2', argv: ['cat', '/sys/class/block/nvme1n2/wwid'] },
    { name: 'wwid nvme3n1', argv: ['cat', '/sys/class/block/nvme3n1/wwid'] },
  ]);
  const second = Object.fromEntries(
    Object.entries(SECOND).map(([name, { stdout, ...rest }]) => [
      rename(name),
      { ...rest, stdout: rename(stdout) },
    ]),
  );
  const wwid = (last: string) => result(0, `eui.0025385b71b0000${last}\n`);
  const answers = {
    wwid: wwid('1'),
    'wwid nvme1n1': wwid('1'),
    'wwid nvme1n2': wwid('2'),
    'wwid nvme3n1': wwid('1'),
  };
  const { otherPaths } = facts(first, { ...second, ...answers });
  expect(otherPaths.map(({ name }) => name)).toEqual(['nvme1n1', 'nvme3n1']);
});

test('a logical volume is identified by its device-mapper UUID', () => {
  expect(facts(FIRST, { ...SECOND, dm: result(0, 'LVM-abc') })).toMatchObject({
    dmUuid: 'LVM-abc',
    identity: expect.stringContaining('dm=LVM-abc'),
  });
});

test.each<[string, DesiredRaw, string, string]>([
  ['Filesystem', rawDesired, LINK, BY_UUID],
  ['Block', rawBlock, LINK, BY_PARTUUID],
  ['Filesystem, of an earlier version', { ...rawDesired, earlierLink: BY_UUID }, BY_UUID, BY_UUID],
  [
    'Block, of an earlier version',
    { ...rawBlock, earlierLink: BY_PARTUUID },
    BY_PARTUUID,
    BY_PARTUUID,
  ],
  [
    'Block, of an earlier version, on a logical volume',
    { ...rawBlock, earlierLink: byMapper('LVM-abc') },
    byMapper('LVM-abc'),
    BY_PARTUUID,
  ],
])(
  'the persistent path is resolved independently of udev’s link by content: %s',
  (_, wanted, link, content) => {
    const argvs = new Map(rawProbes(wanted).map(({ name, argv }) => [name, argv.join(' ')]));
    expect(argvs.get('link')).toBe(`stat -L -c %t:%T ${link}`);
    expect(argvs.get('content link')).toBe(`stat -L -c %t:%T ${content}`);
    // The target of the content link does not determine the volume's path.
    const first = { ...FIRST, 'content link': result(0, '8:10') };
    expect(read(first, SECOND, wanted).link).toBeUndefined();
    expect(read({ ...first, link: result(0, '8:1f\n') }, SECOND, wanted).link).toBe('8:31');
  },
);

test.each<[string, ProbeResult, object]>([
  ['nothing', missing, { is: 'missing' }],
  ['a file', result(0, 'regular file|0:0'), { is: 'other', what: 'regular file' }],
  [
    'a terminal',
    result(0, 'character special file|4:1'),
    { is: 'other', what: 'character special file' },
  ],
])('readRaw finds no device if the path leads to %s', (_, target, expected) => {
  const first = { ...FIRST, target };
  expect(deviceProbes(map(first), rawDesired)).toEqual([]);
  expect(read(first, {}).target).toEqual(expected);
});

const noDisk = result(0, 'block special file|8:20');
test.each<[string, ProbeResult[]]>([
  ['no path', [missing]],
  ['no disk behind the path', [noDisk]],
  ['no path, and then no disk behind the path', [missing, noDisk]],
])('observe searches for a missing device again after udev settles: %s', async (_, targets) => {
  const asked: string[][] = [];
  const answers = [...targets.map((target) => ({ ...FIRST, target })), FIRST, SECOND];
  const observed = await observe(async (probes) => {
    asked.push(probes.map(({ argv }) => argv.join(' ')));
    return map(answers[asked.length - 1] as Results);
  }, rawDesired);
  expect(asked[1]?.slice(0, 2)).toEqual([
    `udevadm settle --timeout=10 --exit-if-exists=${rawDesired.devicePath}`,
    asked[0]?.[0],
  ]);
  expect(observed).toMatchObject({ target: { is: 'device', facts: { name: 'sdb' } } });
});

test('observe waits for udev only if the device is missing, and may still find none', async () => {
  const asked: string[] = [];
  const looking = (first: Results) => async (probes: readonly { name: string }[]) => {
    asked.push(...probes.map(({ name }) => name));
    return map(probes.some(({ name }) => name === 'target') ? first : SECOND);
  };
  await observe(looking(FIRST), rawDesired);
  expect(asked).not.toContain('wait for udev');
  await expect(observe(looking({ ...FIRST, target: missing }), rawDesired)).resolves.toMatchObject({
    target: { is: 'missing' },
  });
});

describe('records of other Volumes', () => {
  const other = (uid: string) => JSON.stringify(intentFor(facts(FIRST, SECOND), { uid }));
  const file = (uid: string) => `@${uid}.intent\n${other(uid)}\n`;
  test('are read without the Volume’s own', () => {
    const others = result(0, `${file('a')}${file(UID)}${file('b')}`);
    expect(read({ ...FIRST, others }, SECOND).others.map(({ uid }) => uid)).toEqual(['a', 'b']);
  });

  test('are read even if one is removed meanwhile', () => {
    const others = result(1, file('a'), 'cat: b.intent: No such file or directory');
    expect(read({ ...FIRST, others }, SECOND).others.map(({ uid }) => uid)).toEqual(['a']);
  });
});

describe('an incomplete or failed observation', () => {
  /** A Volume whose device is searched by identity if the path does not lead to it. */
  const made = { ...rawDesired, recorded: true, identity: 'serial=S1 size=67108864' };
  const wanted = (name: string) => (name === 'content link' ? made : rawDesired);
  const elsewhere = (name: string): Results => (name === 'content link' ? { target: missing } : {});
  test.each(Object.keys(FIRST))('throws if %s is unanswered in the first round', (name) => {
    const { [name]: _, ...rest } = { ...FIRST, ...elsewhere(name) };
    expect(() => {
      deviceProbes(map(rest), wanted(name));
      read(rest, SECOND, wanted(name));
    }).toThrow(ObservationError);
  });
  test.each(NEEDED)('throws if %s is unanswered in the second round', (name) => {
    const { [name]: _, ...rest } = SECOND;
    expect(() => read(FIRST, rest)).toThrow(ObservationError);
  });

  const io = result(1, '', 'X: Input/output error');
  test.each(Object.keys(FIRST).filter((name) => !['udev', 'mappers'].includes(name)))(
    'throws on an I/O error of %s in the first round',
    (name) => {
      const first = { ...FIRST, ...elsewhere(name), [name]: io };
      expect(() => read(first, SECOND, wanted(name))).toThrow(ObservationError);
    },
  );
  test.each(NEEDED)('throws on an I/O error of %s in the second round', (name) => {
    expect(() => read(FIRST, { ...SECOND, [name]: io })).toThrow(ObservationError);
  });

  test('reports a device node without a disk as no device', () => {
    expect(read({ ...FIRST, target: result(0, 'block special file|8:20') }, {})).toMatchObject({
      target: { is: 'other', what: 'device node without a disk behind it' },
    });
  });

  test.each<[string, Results, Results]>([
    ['unexpected output of stat', { target: result(0, 'block special file') }, {}],
    ['a damaged record of another Volume', { others: result(0, '@a.intent\n{"version":1') }, {}],
    ['an empty record of another Volume', { others: result(0, '@a.intent\n') }, {}],
    ['an unreadable end of the device', {}, { 'end sdb': io }],
    ['a damaged wipe record', { wiped: result(0, '12x') }, {}],
    [
      'one unreadable and one vanished record of other Volumes',
      { others: result(1, '', 'cat: a: Input/output error\ncat: b: No such file or directory') },
      {},
    ],
    ['wipefs that prints no JSON', {}, { 'wipefs sdb': result(0, 'gpt') }],
    ['a partition that blkid cannot read', {}, { 'blkid sdb1': result(2), 'beginning sdb1': io }],
  ])('throws on %s', (_, first, second) => {
    expect(() => read({ ...FIRST, ...first }, { ...SECOND, ...second })).toThrow(ObservationError);
  });
});

import { describe, expect, test } from '@jest/globals';
import { reason } from '../../../src/api/reasons.ts';
import type { Step } from '../../../src/nodes/job.ts';
import { rawProbes } from '../../../src/storage/block/observe.ts';
import { plan } from '../../../src/storage/plan.ts';
import type {
  DesiredRaw,
  DeviceFacts,
  ObservedRaw,
  VolumeOperation,
} from '../../../src/storage/types.ts';
import {
  BY_PARTUUID,
  BY_UUID,
  byMapper,
  FIRST,
  LAST,
  LINK,
  OF_KUBELET,
  ruleFor,
  SETTLE,
  settle,
  triggerUdev,
} from '../../support/link-words.ts';
import {
  disk,
  logical,
  partition,
  rawBlock,
  rawDesired,
  rawMade,
} from '../../support/raw-input.ts';
import { commandsOf, may } from '../../support/sudoers.ts';
import { UID } from '../../support/volume-input.ts';

const GUID_OWN = { number: 2, inTable: 2, scheme: 'gpt', uuid: UID };
const sdb1 = { ...disk, name: 'sdb1', device: '8:17', parent: 'sdb', type: 'part' };
/**
 * Returns the device with the Volume's file system. Also used for its partition, and for a disk
 * with its table.
 */
const filled = (facts: DeviceFacts): DeviceFacts => ({
  ...facts,
  signature: { found: 'one', type: 'ext4', uuid: UID },
  content: `ext4:${UID}`,
});
const table: DeviceFacts = {
  ...disk,
  signature: { found: 'one', type: 'gpt', uuid: UID },
  content: `gpt:${UID};1=none`,
  partitions: [sdb1],
};
const ext4 = filled(disk);
const ownPart: DeviceFacts = { ...partition, partition: GUID_OWN };
/** A disk that multipathd uses. The partition of a map is a map, too. */
const map: DeviceFacts = {
  ...disk,
  name: 'dm-5',
  device: '252:5',
  type: 'mpath',
  mapUuid: 'mpath-360',
};
const mapTable: DeviceFacts = {
  ...table,
  ...{ name: 'dm-5', device: '252:5', type: 'mpath', mapUuid: 'mpath-360' },
  partitions: [{ ...sdb1, name: 'dm-6', device: '252:6', parent: 'dm-5' }],
};
/** Returns facts as before Linux 5.15, or if the kernel does not report the boot ID. */
const old = (facts: DeviceFacts): DeviceFacts => ({ ...facts, presence: undefined });

const earlier: DesiredRaw = { ...rawDesired, earlierLink: BY_UUID };
const earlierBlock: DesiredRaw = { ...rawBlock, earlierLink: BY_PARTUUID };
const mapperBlock: DesiredRaw = { ...rawBlock, earlierLink: byMapper('LVM-abc') };

const made = (wanted: DesiredRaw, observed: ObservedRaw) => plan('attach', wanted, observed, 0);
function commands(wanted: DesiredRaw, observed: ObservedRaw): string[] | string {
  const planned = made(wanted, observed);
  return 'steps' in planned ? planned.steps.map(({ argv }) => argv.join(' ')) : planned.refusal;
}

function stepsOf(
  operation: VolumeOperation,
  wanted: DesiredRaw,
  observed: ObservedRaw,
): readonly Step[] {
  const planned = plan(operation, wanted, observed, 0);
  if ('refusal' in planned) throw new Error(planned.refusal);
  return planned.steps;
}

test('sudoers allows resolving persistent paths and removing them', () => {
  const wanted = [rawDesired, rawBlock, earlier, earlierBlock, mapperBlock];
  const looks = wanted.flatMap(rawProbes).map(({ argv }) => argv);
  expect(looks.filter((argv) => !may(argv))).toEqual([]);
  for (const onDelete of ['Retain', 'Delete'] as const) {
    const steps = stepsOf('delete', { ...rawDesired, onDelete }, rawMade(ext4, { link: '8:16' }));
    expect(commandsOf(steps)).toContainEqual(['rm', '-f', '--', LINK]);
    expect(commandsOf(steps).filter((argv) => !may(argv))).toEqual([]);
  }
});

describe('the udev rule for a persistent path', () => {
  const WHOLE = 'ENV{DEVTYPE}=="disk"';
  const SEQ = 'ATTRS{diskseq}=="7"';
  test.each<[string, DeviceFacts, DesiredRaw, string[]]>([
    ['a disk', ext4, rawDesired, ruleFor(`${WHOLE},${SEQ}`)],
    [
      'the partition of a disk in mode Block',
      table,
      rawBlock,
      ruleFor(`ENV{PARTN}=="1",${SEQ}`, LINK, LAST),
    ],
    ['a partition', filled(partition), rawDesired, ruleFor(`ENV{PARTN}=="2",${SEQ}`)],
    ['a partition in mode Block', ownPart, rawBlock, ruleFor(`ENV{PARTN}=="2",${SEQ}`, LINK, LAST)],
    ['a logical volume', filled(logical), rawDesired, ruleFor('ATTR{dm/uuid}=="LVM-abc"')],
    [
      'a logical volume in mode Block',
      logical,
      rawBlock,
      ruleFor('ATTR{dm/uuid}=="LVM-abc"', LINK, LAST),
    ],
    ['a map of multipathd', filled(map), rawDesired, ruleFor('ATTR{dm/uuid}=="mpath-360"')],
    [
      'the partition of a map in mode Block',
      mapTable,
      rawBlock,
      ruleFor('ATTR{dm/uuid}=="part1-mpath-360"', LINK, LAST),
    ],
    [
      'a map whose UUID contains quotes',
      { ...filled(logical), dmUuid: 'CRYPT-PLAIN-x",RUN+="/bin/sh' },
      rawDesired,
      ruleFor('ATTR{dm/uuid}=="CRYPT-PLAIN-x??RUN????bin?sh"'),
    ],
    [
      'a map whose UUID udev would read as a pattern',
      { ...filled(logical), dmUuid: 'CRYPT-a*b|c[d] e' },
      rawDesired,
      ruleFor('ATTR{dm/uuid}=="CRYPT-a?b?c?d??e"'),
    ],
    [
      'a map without a UUID',
      { ...filled(logical), dmUuid: '' },
      rawDesired,
      ruleFor(`${WHOLE},${SEQ}`),
    ],

    [
      'a disk of an older kernel, also by its content',
      old(ext4),
      rawDesired,
      ruleFor(`${WHOLE},KERNELS=="sdb",ENV{ID_FS_UUID}=="${UID}"`),
    ],
    [
      'the partition of a disk of an older kernel',
      old(table),
      rawBlock,
      ruleFor(`ENV{PARTN}=="1",KERNELS=="sdb",ENV{ID_PART_ENTRY_UUID}=="${UID}"`, LINK, LAST),
    ],
    [
      'a partition of an older kernel',
      old(filled(partition)),
      rawDesired,
      ruleFor(`ENV{PARTN}=="2",KERNELS=="sdb",ENV{ID_FS_UUID}=="${UID}"`),
    ],
    [
      'a partition of an older kernel in mode Block',
      old(ownPart),
      rawBlock,
      ruleFor(`ENV{PARTN}=="2",KERNELS=="sdb",ENV{ID_PART_ENTRY_UUID}=="${UID}"`, LINK, LAST),
    ],
    [
      'a map without a UUID of an older kernel',
      old({ ...filled(logical), dmUuid: '' }),
      rawDesired,
      ruleFor(`${WHOLE},KERNELS=="dm-0",ENV{ID_FS_UUID}=="${UID}"`),
    ],

    ['a disk of an earlier version', ext4, earlier, ruleFor(`${WHOLE},${SEQ}`, BY_UUID, FIRST)],
    [
      'a logical volume of an earlier version',
      filled(logical),
      earlier,
      ruleFor('ATTR{dm/uuid}=="LVM-abc"', BY_UUID, FIRST),
    ],
    [
      'the partition of a disk of an earlier version in mode Block',
      table,
      earlierBlock,
      ruleFor(`ENV{PARTN}=="1",${SEQ}`, BY_PARTUUID, OF_KUBELET),
    ],
    [
      'a partition of an earlier version in mode Block',
      ownPart,
      earlierBlock,
      ruleFor(`ENV{PARTN}=="2",${SEQ}`, BY_PARTUUID, OF_KUBELET),
    ],
  ])('matches %s', (_, facts, wanted, rule) => {
    expect(commands(wanted, rawMade(facts)).slice(0, rule.length)).toEqual(rule);
    expect(
      commandsOf(stepsOf('attach', wanted, rawMade(facts))).filter((argv) => !may(argv)),
    ).toEqual([]);
  });

  test('is not written while a multipath map has no partition: the attach is retried', () => {
    expect(made(rawBlock, rawMade({ ...mapTable, partitions: [] }))).toMatchObject({
      reason: reason('MultipathTookDisk', { device: '/dev/dm-5', wwid: '360' }),
      hint: expect.stringContaining('add wwid "360" to the blacklist section'),
      retryable: true,
    });
  });

  test('is not written for a Block logical volume of an earlier version: udev has one', () => {
    expect(commands(mapperBlock, rawMade(logical))).toEqual([
      triggerUdev('dm-0'),
      settle(byMapper('LVM-abc')),
    ]);
  });
});

describe('a persistent path that leads to another device', () => {
  const other = { ...disk, name: 'sdz', device: '65:16', type: 'disk' };
  const strayed = (facts: DeviceFacts): ObservedRaw => {
    const observed = rawMade(facts);
    return { ...observed, devices: [...observed.devices, other], link: other.device };
  };
  test.each<[string, DeviceFacts, DesiredRaw, string, string[]]>([
    [
      'a disk',
      ext4,
      rawDesired,
      `${LINK} leads to /dev/sdz, not to the volume's device /dev/sdb`,
      [triggerUdev('sdb')],
    ],
    [
      'a disk in mode Block',
      table,
      rawBlock,
      `${LINK} leads to /dev/sdz, not to the volume's device /dev/sdb1`,
      ['partx --update --nr 1 /dev/sdb', triggerUdev('sdb1')],
    ],
    [
      'a disk in mode Block whose partition the kernel has not read',
      { ...table, partitions: [] },
      rawBlock,
      `${LINK} leads to /dev/sdz, and the volume has no device`,
      ['partx --update --nr 1 /dev/sdb', triggerUdev('sdb')],
    ],
    [
      'a disk of an earlier version, beside a disk with its UUID',
      ext4,
      earlier,
      `${BY_UUID} leads to /dev/sdz, not to the volume's device /dev/sdb`,
      [triggerUdev('sdb')],
    ],
    [
      'a partition of an earlier version, beside one with its GUID',
      ownPart,
      earlierBlock,
      `${BY_PARTUUID} leads to /dev/sdz, not to the volume's device /dev/sdb2`,
      [triggerUdev('sdb2')],
    ],
    [
      'a logical volume of an earlier version in mode Block',
      logical,
      mapperBlock,
      `${byMapper('LVM-abc')} leads to /dev/sdz, not to the volume's device /dev/dm-0`,
      [triggerUdev('dm-0')],
    ],
  ])('is reported and repaired: %s', (_, facts, wanted, astray, looks) => {
    expect(made(wanted, strayed(facts))).toMatchObject({ astray });
    const [rule = []] = [commands(wanted, rawMade(facts)).slice(0, 3)];
    const isRule = wanted !== mapperBlock;
    expect(commands(wanted, strayed(facts))).toEqual([...(isRule ? rule : []), ...looks, SETTLE]);
  });

  test('is not reported for a missing path, or one to the device or a loop stacked on it', () => {
    const stacked = {
      ...{ name: 'loop4', number: 4, device: '7:4', backingFile: '/dev/sdb', backingInode: '1' },
      ...{ autoclear: false, readOnly: false, wholeFile: true, sizeBytes: disk.sizeBytes },
    };
    for (const more of [{}, { link: '8:16' }, { link: '7:4', loops: [stacked] }]) {
      expect(made(rawDesired, rawMade(ext4, more))).not.toHaveProperty('astray');
    }
    expect(commands(rawDesired, rawMade(ext4, { link: '7:4', loops: [stacked] }))).toEqual([]);
  });
});

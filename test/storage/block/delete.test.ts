import { describe, expect, test } from '@jest/globals';
import { type ReasonCode, reason } from '../../../src/api/reasons.ts';
import { plan } from '../../../src/storage/plan.ts';
import type { DesiredRaw, DeviceFacts, ObservedRaw } from '../../../src/storage/types.ts';
import {
  BY_PARTUUID,
  BY_UUID,
  byMapper,
  dropLink,
  SETTLE,
  triggerUdev,
} from '../../support/link-words.ts';
import {
  disk,
  intentFor,
  logical,
  PARTUUID,
  partition,
  rawBlock,
  rawDesired,
  rawMade,
  rawNode,
} from '../../support/raw-input.ts';
import { UID } from '../../support/volume-input.ts';

const wiping = { ...rawDesired, onDelete: 'Wipe' } as const;
const blockWiping = { ...rawBlock, onDelete: 'Wipe' } as const;
const keeping = { ...rawDesired, onDelete: 'Retain' } as const;
/** Commands that wipe the signature or overwrite the device. */
const CLEANED = /^(wipefs --all --force|dd if=\/dev\/zero .*) /;
const FORGET = /^rm -f \/var\/lib\/stowage\/volumes\//;

const one = (type: string, uuid?: string) =>
  ({ found: 'one', type, ...(uuid === undefined ? {} : { uuid }) }) as const;
const ext4: DeviceFacts = { ...disk, signature: one('ext4', UID), content: `ext4:${UID}` };
const sdb1 = { ...disk, name: 'sdb1', device: '8:17', parent: 'sdb', type: 'part' };
const gpt: DeviceFacts = {
  ...disk,
  signature: one('gpt', UID),
  content: `gpt:${UID};1=none`,
  partitions: [sdb1],
};
const named: DeviceFacts = {
  ...partition,
  partition: { number: 2, inTable: 2, scheme: 'gpt', uuid: UID },
};
const foreign: DeviceFacts = { ...disk, signature: one('xfs', 'x'), content: 'xfs:x' };
const nameless: DeviceFacts = { ...disk, identity: 'size=1073741824' };
/** Another disk than the recorded one, or the same one after a reboot: undecidable. */
const unknown: DeviceFacts = { ...nameless, presence: 'b00t2/7' };
const madeOf = (facts: DeviceFacts, more: Partial<ObservedRaw> = {}) => rawMade(facts, more);

function outcome(wanted: DesiredRaw, observed: ObservedRaw): string[] | string {
  const made = plan('delete', wanted, observed, 0);
  if ('refusal' in made) return `${made.retryable ? 'retryable: ' : ''}${made.refusal}`;
  return made.steps
    .map(({ argv }) => argv.join(' '))
    .filter((command) => !/^(install|mv|sync|true|dd of=\/var)/.test(command))
    .map((command) => (FORGET.test(command) ? 'forget' : command));
}
/**
 * Commands that remove the path that udev derives from content: udev removes it, or else Stowage.
 */
const UNLINK = (name: string, link: string) => [triggerUdev(name), SETTLE, `rm -f -- ${link}`];
const earlier = { ...rawDesired, earlierLink: BY_UUID };
const earlierBlock = { ...rawBlock, earlierLink: BY_PARTUUID };
const wipes = (wanted: DesiredRaw, observed: ObservedRaw) => {
  const commands = outcome(wanted, observed);
  if (typeof commands === 'string') return commands;
  const parts = commands.filter((command) => command.startsWith('dd if=/dev/zero'));
  return [parts.length, /seek=\d+/.exec(parts[0] ?? '')?.[0], commands.at(-1)];
};

describe('deletion with onDelete Delete', () => {
  test.each<[string, ObservedRaw, string[], DesiredRaw?]>([
    ['a device never provisioned', rawNode(foreign), []],
    ['an incomplete record', rawNode(foreign, { recordFiles: true }), ['forget']],
    [
      'a file system',
      madeOf(ext4),
      ['wipefs --all --force /dev/sdb', ...UNLINK('sdb', BY_UUID), 'forget'],
    ],
    [
      'a file system with its persistent path',
      madeOf(ext4, { link: '8:16' }),
      ['wipefs --all --force /dev/sdb', ...UNLINK('sdb', BY_UUID), ...dropLink('sdb'), 'forget'],
    ],
    [
      'a file system of an earlier version',
      madeOf(ext4, { link: '8:16' }),
      ['wipefs --all --force /dev/sdb', ...UNLINK('sdb', BY_UUID), 'forget'],
      earlier,
    ],
    [
      'a partition table',
      madeOf(gpt, { link: '8:17' }),
      [
        'wipefs --all --force /dev/sdb',
        'partx --delete /dev/sdb',
        ...UNLINK('sdb', BY_PARTUUID),
        ...dropLink('sdb1'),
        'forget',
      ],
      rawBlock,
    ],
    [
      'a partition table of an earlier version',
      madeOf(gpt),
      [
        'wipefs --all --force /dev/sdb',
        'partx --delete /dev/sdb',
        ...UNLINK('sdb', BY_PARTUUID),
        'forget',
      ],
      earlierBlock,
    ],
    [
      'a partition gets its earlier GUID back',
      madeOf(named, { intent: intentFor(partition), link: '8:18' }),
      [
        `sgdisk --partition-guid=2:${PARTUUID} /dev/sdb`,
        'partx --update /dev/sdb',
        ...UNLINK('sdb2', BY_PARTUUID),
        ...dropLink('sdb2'),
        'forget',
      ],
      rawBlock,
    ],
    [
      'a partition of an earlier version gets its earlier GUID back',
      madeOf(named, { intent: intentFor(partition) }),
      [
        `sgdisk --partition-guid=2:${PARTUUID} /dev/sdb`,
        'partx --update /dev/sdb',
        ...UNLINK('sdb2', BY_PARTUUID),
        'forget',
      ],
      earlierBlock,
    ],
    [
      'a partition without a recorded earlier GUID gets a random GUID',
      rawNode(named),
      [
        'sgdisk --partition-guid=2:R /dev/sdb',
        'partx --update /dev/sdb',
        ...UNLINK('sdb2', BY_PARTUUID),
      ],
      { ...rawBlock, recorded: true },
    ],
    [
      'only the persistent path is left',
      rawNode(disk, { link: '8:16' }),
      dropLink('sdb'),
      { ...rawDesired, recorded: true },
    ],
    ['a partition whose earlier GUID was restored', madeOf(partition), ['forget'], rawBlock],
    ['a logical volume in mode Block', madeOf(logical), ['forget'], rawBlock],
    ['a logical volume, already deleted', rawNode(logical), [], { ...rawBlock, recorded: true }],
    ['the signature is already wiped', madeOf(disk), ['forget']],
    ['already deleted', rawNode(disk), [], { ...rawDesired, recorded: true }],
    ['the device has foreign content', rawNode(foreign), [], { ...rawDesired, recorded: true }],
    [
      'nothing was written yet',
      rawNode(foreign, {
        intent: intentFor(disk, { signature: 'xfs:x', consent: 'xfs:x' }),
        recordFiles: true,
      }),
      ['forget'],
    ],
    [
      'only the kernel knows the partition of a wiped table',
      madeOf({ ...gpt, signature: { found: 'none' }, content: 'no table;?=none' }),
      [
        'wipefs --all --force /dev/sdb',
        'partx --delete /dev/sdb',
        ...UNLINK('sdb', BY_PARTUUID),
        'forget',
      ],
      rawBlock,
    ],
    [
      'content that was never destroyed',
      rawNode(foreign, {
        link: '8:16',
        intent: intentFor(disk, { signature: 'xfs:x' }),
        recordFiles: true,
      }),
      [...UNLINK('sdb', BY_UUID), ...dropLink('sdb'), 'forget'],
    ],
    [
      'content that was never destroyed, of an earlier version',
      rawNode(foreign, {
        link: '8:16',
        intent: intentFor(disk, { signature: 'xfs:x' }),
        recordFiles: true,
      }),
      [...UNLINK('sdb', BY_UUID), 'forget'],
      earlier,
    ],
    [
      'a logical volume of an earlier version in mode Block, with LVM’s path',
      madeOf(logical, { link: '252:0' }),
      ['forget'],
      { ...rawBlock, earlierLink: byMapper('LVM-abc') },
    ],
  ])('plans only the needed commands: %s', (_, observed, commands, wanted = rawDesired) => {
    expect(outcome(wanted, observed)).toEqual(commands);
  });

  test('verifies device, content and use before wipefs, under the lock of the disk', () => {
    const made = plan('delete', rawDesired, madeOf(ext4), 0);
    const step = 'steps' in made ? made.steps.find(({ argv }) => argv[0] === 'wipefs') : undefined;
    expect(step?.lock).toBe('/dev/sdb');
    const texts =
      step?.preconditions.map(({ argv, expect: { stdout } }) => [argv[0], stdout]) ?? [];
    expect(texts).toContainEqual(['lsblk', { is: ext4.printed.identity }]);
    expect(texts).toContainEqual(['blkid', { is: ext4.printed.blkid }]);
    expect(texts).toContainEqual(['wipefs', { is: ext4.printed.wipefs }]);
    expect(texts).toContainEqual(['find', { has: ' / /proc ', lacks: ' 8:16 ' }]);
  });
});

test.each<[string, ObservedRaw, number, DesiredRaw?]>([
  ['a disk', madeOf(ext4), 2],
  ['a disk of an earlier version', madeOf(ext4), 2, earlier],
  ['a partition', madeOf(named, { intent: intentFor(partition) }), 0, rawBlock],
  [
    'content that was never destroyed',
    rawNode(foreign, {
      link: '8:16',
      intent: intentFor(disk, { signature: 'xfs:x' }),
      recordFiles: true,
    }),
    0,
  ],
])(
  'a deletion removes udev’s link to %s only once blkid no longer finds the UUID',
  (_, observed, exit, wanted = rawDesired) => {
    const made = plan('delete', wanted, observed, 0);
    const rm = 'steps' in made ? made.steps.find(({ argv }) => argv[2] === '--') : undefined;
    expect(rm?.argv.at(-1)).toBe(wanted.mode === 'Block' ? BY_PARTUUID : BY_UUID);
    expect(rm?.preconditions.map(({ expect: wants }) => wants)).toEqual([
      { exit, stdout: { has: '', lacks: UID } },
    ]);
  },
);

test('a deletion keeps the path of a logical volume that LVM and udev maintain', () => {
  const mapper = { ...blockWiping, earlierLink: byMapper('LVM-abc') };
  const commands = outcome(mapper, madeOf(logical, { link: '252:0' }));
  expect(commands).toContain('forget');
  expect(commands).not.toContain(`rm -f -- ${byMapper('LVM-abc')}`);
});

describe('deletion with onDelete Retain', () => {
  test.each<[string, ObservedRaw]>([
    ['a provisioned device', madeOf(ext4)],
    ['a device that is gone', { ...madeOf(ext4), target: { is: 'missing' } }],
    [
      'a device that was exchanged',
      madeOf(foreign, { intent: intentFor({ ...disk, identity: 'serial=S2' }) }),
    ],
    ['a device in use', madeOf(ext4, { mounts: new Map([['8:16', ['/a']]]) })],
  ])('removes only the records: %s', (_, observed) => {
    expect(outcome(keeping, observed)).toEqual(['forget']);
    // The path that udev derives from content stays with the data.
    expect(outcome({ ...keeping, earlierLink: BY_UUID }, { ...observed, link: '8:16' })).toEqual([
      'forget',
    ]);
  });

  test('removes the udev rule, then the path', () => {
    expect(outcome(keeping, madeOf(ext4, { link: '8:16' }))).toEqual([
      ...dropLink('sdb'),
      'forget',
    ]);
    const block = { ...rawBlock, onDelete: 'Retain' } as const;
    expect(outcome(block, madeOf(gpt, { link: '8:17' }))).toEqual([...dropLink('sdb1'), 'forget']);
    // For an absent device, udev is triggered for the existing devices.
    const gone = {
      ...madeOf(ext4, { link: '8:16', devices: [] }),
      target: { is: 'missing' },
    } as const;
    expect(outcome(keeping, gone)).toEqual([
      ...dropLink('x').filter((command) => command !== triggerUdev('x')),
      'forget',
    ]);
  });
});

describe('deletion with onDelete Wipe', () => {
  test.each<[string, ObservedRaw, unknown, DesiredRaw?]>([
    ['from the first byte', madeOf(ext4), [16, 'seek=0', 'forget']],
    ['a disk with a table', madeOf(gpt), [16, 'seek=0', 'forget'], blockWiping],
    ['a logical volume', madeOf(logical), [16, 'seek=0', 'forget'], blockWiping],
    ['after the wiped part', madeOf(disk, { wiped: 512n << 20n }), [8, 'seek=536870912', 'forget']],
    [
      'only the backup partition table is left',
      madeOf({ ...disk, content: 'gpt', tableUuids: [UID] }, { wiped: 64n << 20n }),
      [15, 'seek=67108864', 'forget'],
      blockWiping,
    ],
    [
      'all parts are wiped: only the records',
      madeOf(disk, { wiped: 1n << 30n }),
      [0, undefined, 'forget'],
    ],
    [
      'a device never written to',
      rawNode(disk, { intent: intentFor(disk), recordFiles: true }),
      [0, undefined, 'forget'],
    ],
    [
      'already deleted, and planned again',
      rawNode(logical),
      [0, undefined, undefined],
      { ...blockWiping, recorded: true },
    ],
    [
      'foreign content is kept',
      madeOf(foreign, { wiped: 64n << 20n }),
      '/dev/sdb contains xfs:x, which does not belong to this Volume',
    ],
  ])('plans the remaining parts: %s', (_, observed, expected, wanted = wiping) => {
    expect(wipes(wanted, observed)).toEqual(expected);
  });

  test('is refused if the device does not contain what was created for the Volume', () => {
    for (const facts of [disk, nameless, { ...logical, content: '' }]) {
      const made = madeOf(facts);
      const without = rawMade(facts, { intent: undefined });
      for (const observed of [made, without]) {
        expect(plan('delete', wiping, observed, 0)).toMatchObject({
          reason: { code: 'ContentNotMade' },
          refusal: expect.stringMatching(/contains nothing, not what was created for this Volume$/),
        });
      }
    }
  });

  test('is refused if more bytes are recorded as wiped than the device has', () => {
    expect(plan('delete', wiping, madeOf(ext4, { wiped: 2n << 30n }), 0)).toMatchObject({
      reason: reason('WipedBeyondEnd', {
        ...{ wiped: 2n << 30n, device: '/dev/sdb', bytes: 1n << 30n },
      }),
      refusal: expect.stringMatching(
        /2147483648 bytes of \/dev\/sdb as wiped, but the device has 1073741824$/,
      ),
    });
  });

  test('needs no partition in the kernel, once it has removed them from there', () => {
    const made = plan('delete', blockWiping, madeOf(gpt), 0);
    const steps = 'steps' in made ? made.steps : [];
    const after = steps.slice(steps.findIndex(({ argv }) => argv[0] === 'partx') + 1);
    expect(after.map(({ argv }) => argv.join(' '))).toContain('wipefs --all --force /dev/sdb');
    const read = after.flatMap(({ preconditions }) => preconditions.flatMap(({ argv }) => argv));
    expect(read.filter((each) => each.includes('sdb1'))).toEqual([]);
  });

  test('verifies before each part that no other program wrote to the device', () => {
    const made = plan('delete', wiping, madeOf(ext4), 0);
    const parts =
      'steps' in made ? made.steps.filter(({ argv }) => argv[1] === 'if=/dev/zero') : [];
    const looks = parts.map(({ preconditions }) => preconditions.map(({ argv }) => argv.join(' ')));
    expect(looks[0]).toContain('blkid -p -o export /dev/sdb');
    for (const look of looks.slice(1))
      expect(look).toContain('cmp --bytes=1048576 -- /dev/sdb /dev/zero');
  });

  test('recognizes a disk without an identity by its wiped part', () => {
    const begun = madeOf(unknown, { intent: intentFor(nameless), wiped: 64n << 20n });
    expect(outcome(wiping, begun)[0]).toBe('cmp --bytes=67108864 -- /dev/sdb /dev/zero');
  });
});

describe.each([rawBlock, blockWiping])('deletion of half a partition table: %j', (wanted) => {
  // The wipe is recorded before the table is removed.
  const wiped = wanted.onDelete === 'Wipe' ? 0n : undefined;
  const halves = ['PMBR', 'no table;?=none'].map((content) => ({
    ...nameless,
    content,
    partitions: content.includes(';') ? [sdb1] : [],
  }));
  test.each(halves)('$content: is removed from the recorded disk only', (facts) => {
    expect(outcome(wanted, madeOf(facts, { wiped }))).toContainEqual(
      expect.stringMatching(CLEANED),
    );
    const serial = { ...facts, identity: disk.identity };
    expect(outcome(wanted, madeOf(serial, { intent: intentFor(disk), wiped }))).toContainEqual(
      expect.stringMatching(CLEANED),
    );
    const other = madeOf({ ...facts, presence: 'b00t/8' }, { intent: intentFor(nameless), wiped });
    expect(plan('delete', wanted, other, 0)).toMatchObject({
      reason: { code: 'ContentOfUnknown' },
      refusal: expect.stringMatching(
        /does not show its owner, and no record tells the disk from another$/,
      ),
    });
  });

  test.each(['gpt', 'gpt;?=none'])(
    '%s: is removed from any disk by its GUID, and refused without it',
    (content) => {
      const facts = { ...nameless, content, partitions: content.includes(';') ? [sdb1] : [] };
      const copy = { ...facts, presence: 'b00t/8', tableUuids: ['x', UID] };
      expect(outcome(wanted, madeOf(copy))).toContainEqual(expect.stringMatching(CLEANED));
      for (const tableUuids of [[], ['x']]) {
        expect(outcome(wanted, madeOf({ ...facts, tableUuids }, { wiped }))).toMatch(
          /which does not belong to this Volume$/,
        );
      }
    },
  );
});

describe.each([rawDesired, wiping])('deletion: %j', (wanted) => {
  test.each<[string, ObservedRaw, RegExp, ReasonCode]>([
    [
      'the device is gone',
      { ...madeOf(ext4), target: { is: 'missing' } },
      /^there is no device/,
      'DeviceMissing',
    ],
    [
      'the path leads to a directory',
      { ...madeOf(ext4), target: { is: 'other', what: 'directory' } },
      / is a directory, not a disk, partition or logical volume$/,
      'NoBlockDevice',
    ],
    [
      'the device was exchanged',
      madeOf({ ...ext4, identity: 'serial=S2 size=1' }, { intent: intentFor(disk) }),
      /is now .*S2/,
      'DeletedDeviceExchanged',
    ],
    [
      'the device is smaller',
      madeOf({ ...ext4, identity: 'serial=S1 size=1' }, { intent: intentFor(disk) }),
      /is now/,
      'DeletedDeviceExchanged',
    ],
    [
      'the device has foreign content',
      madeOf(foreign),
      /contains xfs:x, which does not belong to this Volume$/,
      'ContentOfAnother',
    ],
    [
      'mounted',
      madeOf(ext4, { mounts: new Map([['8:16', ['/a']]]) }),
      /^retryable: .*mounted at \/a$/,
      'UseHoldsCleaning',
    ],
    [
      'swap',
      madeOf(ext4, { swaps: ['/dev/sdb'] }),
      /^retryable: .*it is swap$/,
      'UseHoldsCleaning',
    ],
  ])('%s: is refused, and suggests Retain unless it is retried', (_, observed, refusal, code) => {
    expect(outcome(wanted, observed)).toMatch(refusal);
    const made = plan('delete', wanted, observed, 0);
    expect(made).toMatchObject({ reason: { code } });
    if (!('retryable' in made))
      expect(made).toMatchObject({ hint: expect.stringContaining('Retain') });
  });
});

test.each([
  ['t10.ATA', '0x5000c500a1b2c3d4'],
  ['0x5000c500a1b2c3d4', '0x5000c500a1b2c3d40123456789abcdef'],
])(
  'a deletion refuses a copy on a disk with a different WWN: recorded %s, found %s',
  (wwn, found) => {
    const recorded = {
      ...wiping,
      recorded: true,
      identity: `wwn=${wwn} size=1073741824`,
    };
    const copy = { ...ext4, identity: `wwn=${found} size=1073741824`, presence: undefined };
    expect(plan('delete', recorded, rawNode(copy), 0)).toMatchObject({
      refusal: expect.stringContaining(', not the device of this Volume'),
    });
  },
);

test('a deletion refuses a disk with another serial number and the same diskseq', () => {
  const recorded = {
    ...wiping,
    recorded: true,
    identity: 'serial=S2 size=1073741824',
  };
  const other = { ...ext4, identity: 'serial=S1 size=1073741824' };
  expect(plan('delete', recorded, rawMade(other), 0)).toHaveProperty('refusal');
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Step } from '../../../src/nodes/job.ts';
import { plan } from '../../../src/storage/plan.ts';
import type { DesiredRaw, DeviceFacts, ObservedRaw, Operation } from '../../../src/storage/types.ts';
import { writesTo } from '../../support/plans.ts';
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
import { TEST_SEED } from '../../support/test-seed.ts';
import { loop, UID } from '../../support/volume-input.ts';

const OTHER = '11111111-2222-4333-8444-555555555555';
const xfs: DesiredRaw = { ...rawDesired, fs: { type: 'xfs', options: ['-K'] } };
const MODES = [
  ['ext4', rawDesired],
  ['xfs', xfs],
  ['Block', rawBlock],
] as const;

function carrying(content: string, base: DeviceFacts = disk): DeviceFacts {
  const [type = '', uuid] = content.split(/[:;+]/);
  return {
    ...base,
    content,
    signature: content.startsWith('ambivalent')
      ? { found: 'ambivalent' }
      : content.startsWith('no table')
        ? { found: 'none' }
        : { found: 'one', type, ...(uuid === undefined ? {} : { uuid }) },
    printed: {
      ...base.printed,
      blkid: `DEVNAME=/dev/sdb\nTYPE=${type}`,
      blkidExit: content.startsWith('ambivalent') ? 8 : 0,
      wipefs: `{"signatures": ["${content}"]}`,
    },
    partitions: /;\d=/.test(content)
      ? [{ ...disk, name: 'sdb1', device: '8:17', parent: 'sdb', type: 'part' }]
      : [],
  };
}

const made = (wanted: DesiredRaw, observed: ObservedRaw, operation: Operation = 'prepare') =>
  plan(operation, wanted, observed, 0);
function stepsOf(wanted: DesiredRaw, observed: ObservedRaw): readonly Step[] {
  const planned = made(wanted, observed);
  if ('refusal' in planned) throw new Error(planned.refusal);
  return planned.steps;
}
const commands = (wanted: DesiredRaw, observed: ObservedRaw) =>
  stepsOf(wanted, observed).map(({ argv }) => argv.join(' '));

const CONTENTS = [
  `ext4:${OTHER}`,
  `xfs:${OTHER}`,
  `btrfs:${OTHER}`,
  'vfat:ABCD-1234',
  'ntfs:01D0C0FFEE000000',
  `swap:${OTHER}`,
  'LVM2_member:AbCdEf-0000',
  'linux_raid_member:aa-bb',
  `crypto_LUKS:${OTHER}`,
  'zfs_member:123456789',
  'ceph_bluestore',
  `gpt:${OTHER};1=ext4:${OTHER}`,
  `gpt:${OTHER}`,
  'dos:abcd1234;1=none',
  'ext4:a+swap:b',
  'ambivalent',
  'no table;1=none',
];
const KINDS = CONTENTS.flatMap((content) => MODES.map(([mode, wanted]) => [content, mode, wanted] as const));

describe('what is on a device', () => {
  test.each(KINDS)('%s, to become %s: refused without consent, and with another', (content, _, wanted) => {
    const observed = rawNode(carrying(content));
    expect(made(wanted, observed)).toEqual({
      refusal: `/dev/sdb carries ${content}`,
      hint: expect.stringContaining(`set spec.overwrite to ${JSON.stringify(content)}.`),
    });
    for (const overwrite of [
      'ext4:another',
      `${content} `,
      content.slice(0, -1),
      content.toUpperCase(),
      '*',
    ]) {
      if (overwrite === content) continue;
      expect(made({ ...wanted, overwrite }, observed)).toEqual({
        refusal: `/dev/sdb carries ${content}. The consent that was given is for ${JSON.stringify(overwrite)}, which is not what is there`,
        hint: expect.stringContaining(`set spec.overwrite to ${JSON.stringify(content)}.`),
      });
    }
  });

  test.each(KINDS)('%s, to become %s: destroyed with consent for just that', (content, _, wanted) => {
    const facts = carrying(content);
    const steps = stepsOf({ ...wanted, overwrite: content }, rawNode(facts));
    const record = steps.find(({ stdin }) => stdin?.includes('"version"'))?.stdin ?? '';
    expect(JSON.parse(record)).toMatchObject({ uid: UID, signature: content, consent: content });
    const destroying = steps.filter(({ argv }) => writesTo([{ name: '', argv, guards: [] }]).length > 0);
    expect(destroying.map(({ argv }) => argv[0])).toEqual([
      'wipefs',
      wanted.mode === 'Block' ? 'sgdisk' : `mkfs.${wanted.fs?.type}`,
    ]);
    // The intent is durable before, done comes after.
    expect(steps.findIndex(({ argv }) => argv[0] === 'sync')).toBeLessThan(
      steps.indexOf(destroying[0] as Step),
    );
    expect(steps.findIndex(({ argv }) => argv.join().includes('.done.new'))).toBeGreaterThan(
      steps.indexOf(destroying[1] as Step),
    );
    for (const step of destroying) expectGuarded(step, facts);
    const first = destroying[0]?.guards ?? [];
    expect(first).toContainEqual(
      expect.objectContaining({
        argv: ['blkid', '-p', '-o', 'export', '/dev/sdb'],
        expect: { exit: facts.printed.blkidExit, stdout: { is: facts.printed.blkid } },
      }),
    );
    expect(first).toContainEqual(
      expect.objectContaining({ expect: { exit: 0, stdout: { is: facts.printed.wipefs } } }),
    );
    expect(destroying[1]?.guards.map(({ argv }) => argv.join(' '))).toEqual(
      expect.arrayContaining([
        'blkid -p -o value -s TYPE -s PTTYPE /dev/sdb',
        'wipefs -n -i -O TYPE /dev/sdb',
      ]),
    );
    expect(destroying[0]?.argv).toEqual([
      ...['wipefs', '--all', '--force'],
      ...facts.partitions.map(({ name }) => `/dev/${name}`),
      '/dev/sdb',
    ]);
  });
});

function expectGuarded(step: Step, facts: DeviceFacts): void {
  expect(step.lock).toBe('/dev/sdb');
  expect(step.guards[0]?.argv).toEqual(['test', '!', '-e', `/var/lib/stowage/volumes/${UID}.done`]);
  expect(step.guards).toContainEqual(
    expect.objectContaining({ expect: { exit: 0, stdout: { is: facts.printed.identity } } }),
  );
  for (const { name, device } of [facts, ...facts.partitions]) {
    const guards = step.guards.map(({ argv, expect: { stdout } }) => JSON.stringify([argv, stdout]));
    for (const look of [
      ['losetup', '-j', `/dev/${name}`],
      ['find', `/sys/class/block/${name}/holders/`],
    ]) {
      expect(guards).toContainEqual(expect.stringContaining(JSON.stringify(look).slice(1, -1)));
    }
    expect(guards).toContainEqual(expect.stringContaining(` ${device} `));
    expect(guards).toContainEqual(expect.stringContaining(`"lacks":"/dev/${name} "`));
  }
}

describe('an empty', () => {
  const middle = (wanted: DesiredRaw, facts: DeviceFacts) =>
    commands(wanted, rawNode(facts)).filter((command) => !/^(install|dd|mv|sync|udevadm) /.test(command));

  test('disk gets a file system', () => {
    expect(middle(rawDesired, disk)).toEqual(['true', `mkfs.ext4 -q -F -U ${UID} /dev/sdb`]);
    expect(middle(xfs, disk)).toEqual(['true', `mkfs.xfs -q -f -K -m uuid=${UID} /dev/sdb`]);
  });

  test('disk gets a table', () => {
    expect(middle(rawBlock, disk)).toEqual([
      'true',
      `sgdisk --clear --largest-new=1 --partition-guid=1:${UID} --disk-guid=${UID} --change-name=1:data1 /dev/sdb`,
      'partx --update --nr 1 /dev/sdb',
      'partx --update --nr 1 /dev/sdb',
    ]);
  });

  test('partition gets a file system, under the lock of its disk', () => {
    expect(middle(rawDesired, partition)).toEqual(['true', `mkfs.ext4 -q -F -U ${UID} /dev/sdb2`]);
    const mkfs = stepsOf(rawDesired, rawNode(partition)).find(({ argv }) => argv[0] === 'mkfs.ext4');
    expectGuarded(mkfs as Step, partition);
  });

  test('partition gets its GUID in mode Block, and its earlier one is recorded', () => {
    expect(middle(rawBlock, partition)).toEqual([
      'true',
      `sgdisk --partition-guid=2:${UID} /dev/sdb`,
      'partx --update /dev/sdb',
    ]);
    const steps = stepsOf(rawBlock, rawNode(partition));
    const sgdisk = steps.find(({ argv }) => argv[0] === 'sgdisk') as Step;
    expectGuarded(sgdisk, partition);
    expect(sgdisk.guards.slice(-2).map((guard) => guard.expect.stdout)).toEqual([
      { is: PARTUUID },
      { is: '2' },
    ]);
    expect(steps.find(({ stdin }) => stdin?.includes(`"partuuid":"${PARTUUID}"`))).toBeDefined();
  });

  test('logical volume gets nothing in mode Block', () => {
    expect(middle(rawBlock, logical)).toEqual([]);
    expect(commands(rawBlock, rawNode(logical)).at(-1)).toContain('/dev/disk/by-id/dm-uuid-LVM-abc');
  });
});

describe('refused even with consent', () => {
  const facts = carrying(`gpt:${OTHER};1=ext4:${OTHER}`);
  const [part = disk] = facts.partitions;
  const holder = { ...logical, name: 'dm-1', parent: 'sdb' };
  const stacked = { ...loop, name: 'loop4', backingFile: '/dev/sdb' };
  const other = intentFor(disk, { uid: OTHER });
  const cases: [string, DeviceFacts, Partial<ObservedRaw>, RegExp, DesiredRaw?][] = [
    ['mounted', facts, { mounts: new Map([['8:16', ['/a', '/b']]]) }, /sdb is in use: mounted at \/a, \/b$/],
    [
      'a partition mounted',
      facts,
      { mounts: new Map([['8:17', ['/a']]]) },
      /sdb1 is in use: mounted at \/a$/,
    ],
    ['a holder', facts, { devices: [facts, part, holder] }, /dm-1 \(lvm\) is made of it$/],
    [
      'a holder of a partition',
      facts,
      { devices: [facts, part, { ...holder, parent: 'sdb1' }] },
      /sdb1 is in use: \/dev\/dm-1 \(lvm\) is made of it$/,
    ],
    ['a stacked loop', facts, { loops: [stacked] }, /\/dev\/loop4 is stacked on it$/],
    ['swap', facts, { swaps: ['/dev/sdb'] }, /it is swap$/],
    ['a partition that is swap', facts, { swaps: ['/dev/sdb1'] }, /sdb1 is in use: it is swap$/],
    ['read-only', { ...facts, readOnly: true }, {}, /sdb is read-only$/],
    ['no medium', { ...facts, sizeBytes: 0n }, {}, /no medium of a size$/],
    ['a CD', { ...facts, type: 'rom' }, {}, /no medium of a size$/],
    [
      "another Volume's file system",
      { ...facts, uuids: [OTHER] },
      { others: [other] },
      /another Volume.*5555$/,
    ],
    [
      "another Volume's file system, of which the node has no record",
      { ...facts, uuids: [OTHER] },
      { others: [{ uid: OTHER, name: 'old1' }] },
      /sdb belongs to another Volume, old1$/,
    ],
    [
      "another Volume's partition",
      carrying('ext4:x', { ...partition, uuids: ['y', OTHER] }),
      { others: [other] },
      /sdb2 belongs to another Volume/,
    ],
    [
      "another Volume's logical volume",
      carrying('ext4:x', logical),
      { others: [intentFor(logical, { uid: OTHER })] },
      /dm-0 belongs to another Volume/,
    ],
    [
      'one that another Volume is made on, or was, and that carries nothing of it now',
      { ...facts, uuids: [] },
      { others: [intentFor(disk, { uid: OTHER })] },
      /sdb belongs to another Volume/,
    ],
    [
      'the disk is mounted',
      partition,
      { mounts: new Map([['8:16', ['/a']]]) },
      /sdb is in use: mounted at \/a$/,
    ],
    [
      'a loop stacked on the disk',
      partition,
      { loops: [stacked] },
      /sdb is in use: \/dev\/loop4 is stacked on it$/,
    ],
    ['too small', { ...disk, sizeBytes: 1n << 20n }, {}, /has 1048576 bytes, and a Volume needs 4194304/],
    [
      'named after what is on it',
      facts,
      {},
      /goes with it$/,
      { ...rawDesired, devicePath: `/dev/disk/by-uuid/${OTHER}` },
    ],
    [
      'a table that was changed since the kernel read it, in mode Block',
      { ...partition, partition: { number: 2, inTable: 1, scheme: 'gpt', uuid: PARTUUID } },
      {},
      /as partition 2, and the partition table has partition 1 at its place$/,
      rawBlock,
    ],
    [
      'an MBR above it, in mode Block',
      carrying('ext4:x', { ...partition, partition: { number: 1, inTable: 1, scheme: 'dos', uuid: 'a-01' } }),
      {},
      /partition 1 of a table of type dos/,
      rawBlock,
    ],
    ...['tpool', 'pool', 'tdata', 'tmeta', 'real', 'cow'].map(
      (layer): [string, DeviceFacts, object, RegExp, DesiredRaw] => [
        `what LVM keeps for itself (${layer}), which blkid finds nothing on`,
        { ...logical, dmUuid: `LVM-abc-${layer}` },
        {},
        /inner part of a logical volume \(LVM-abc-/,
        rawDesired,
      ],
    ),
    [
      'device-mapper of another kind, in mode Block',
      carrying('ext4:x', { ...logical, dmUuid: 'CRYPT-LUKS2-x' }),
      {},
      /CRYPT-LUKS2-x\) that is no logical volume/,
      rawBlock,
    ],
    [
      'too small for XFS',
      { ...facts, sizeBytes: (300n << 20n) - 1n },
      {},
      /xfs file system needs 314572800 bytes \(300Mi\) at least, and there are 314572799$/,
      xfs,
    ],
  ];
  test.each(cases)('%s', (_, found, more, refusal, wanted = rawDesired) => {
    const planned = made({ ...wanted, overwrite: found.content }, rawNode(found, more));
    expect(planned).toEqual({ refusal: expect.stringMatching(refusal), hint: expect.any(String) });
  });

  test.each<[string, ObservedRaw['target'], RegExp]>([
    ['no device', { is: 'missing' }, /^there is no device \/dev\/disk\/by-id\/wwn-0x5000 on the node$/],
    ['a file', { is: 'other', what: 'regular file' }, /but a regular file$/],
  ])('%s', (_, target, refusal) => {
    for (const operation of ['prepare', 'present'] as const) {
      expect(made(rawDesired, { ...rawNode(disk), target }, operation)).toMatchObject({
        refusal: expect.stringMatching(refusal),
      });
    }
  });

  test('an XFS of 300 MiB is large enough', () => {
    expect(made(xfs, rawNode({ ...disk, sizeBytes: 300n << 20n }))).toHaveProperty('steps');
  });
});

test('a device that is away is waited for once something was begun on it, and else refused', () => {
  const missing = rawNode(disk, { target: { is: 'missing' } });
  expect(made(rawDesired, missing)).toMatchObject({ passing: false });
  expect(made(rawDesired, { ...missing, intent: intentFor(disk) })).toMatchObject({ passing: true });
});

describe('an interrupted try', () => {
  const ours = carrying(`xfs:${UID}`);
  const intent = intentFor(disk, { fsType: 'xfs' });

  test('is made again with its record, and refused without', () => {
    expect(commands(xfs, rawNode(ours, { intent }))).toEqual(
      expect.arrayContaining(['wipefs --all --force /dev/sdb', `mkfs.xfs -q -f -K -m uuid=${UID} /dev/sdb`]),
    );
    expect(made(xfs, rawNode(ours))).toMatchObject({ refusal: `/dev/sdb carries xfs:${UID}` });
  });

  test('on another device is refused, whatever is consented to', () => {
    const exchanged = { ...ours, identity: 'wwn=0x6000 serial=S2 size=1073741824' };
    expect(made({ ...xfs, overwrite: ours.content }, rawNode(exchanged, { intent }))).toMatchObject({
      refusal: expect.stringContaining('serial=S2'),
    });
  });

  test.each([
    [
      'a partition that has its GUID already',
      carrying('ext4:x', { ...partition, partition: { number: 2, inTable: 2, scheme: 'gpt', uuid: UID } }),
    ],
    ['a logical volume', carrying('ext4:x', logical)],
  ])('never destroys what is in %s in mode Block', (_, found) => {
    const known = intentFor(found, { fsType: '' });
    expect(made(rawBlock, rawNode(found, { intent: known }))).toMatchObject({
      refusal: expect.stringContaining('carries ext4:x'),
    });
  });

  test('what someone else put there meanwhile is refused', () => {
    expect(made(xfs, rawNode(carrying(`ext4:${OTHER}`), { intent }))).toHaveProperty('refusal');
    expect(made(rawBlock, rawNode(carrying(`gpt:${OTHER}`), { intent }))).toHaveProperty('refusal');
  });

  test.each(['gpt', 'gpt;?=none'])('half a table, %s, is ours by its GUID only', (content) => {
    const record = intentFor(disk, { fsType: '' });
    const half = { ...carrying(content), tableUuids: [OTHER, UID] };
    expect(commands(rawBlock, rawNode(half, { intent: record }))).toContainEqual(
      expect.stringMatching(/^wipefs --all/),
    );
    expect(made(rawBlock, rawNode({ ...half, tableUuids: [OTHER] }, { intent: record }))).toEqual({
      refusal: `/dev/sdb carries ${content}`,
      hint: expect.stringContaining(`set spec.overwrite to "${content}".`),
    });
  });

  test.each(['PMBR', 'no table;?=none'])('%s is left by no prepare of an empty disk', (content) => {
    const observed = rawNode(carrying(content), { intent: intentFor(disk) });
    for (const overwrite of [undefined, 'none']) {
      expect(made({ ...rawBlock, overwrite }, observed)).toHaveProperty('refusal');
    }
  });

  test.each(['gpt', 'PMBR'])('%s is not left of a file system that may be destroyed', (content) => {
    const intent = intentFor(disk, { fsType: '', signature: 'ext4:x', consent: 'ext4:x' });
    const wanted = { ...rawBlock, overwrite: 'ext4:x' };
    expect(made(wanted, rawNode(carrying(content), { intent }))).toHaveProperty('refusal');
  });

  const consent = `gpt:${OTHER};1=ext4:a;2=xfs:b`;
  const consented = intentFor(disk, { signature: consent, consent });
  test.each([
    ['the partitions are empty', `gpt:${OTHER};1=none;2=none`],
    ['one partition is empty', `gpt:${OTHER};1=none;2=xfs:b`],
    ['a copy of the table is left', 'gpt;?=none;?=none'],
    ['only the kernel knows the partitions', 'no table;?=none;?=none'],
  ])('destroys the rest of what was consented to: %s', (_, content) => {
    const wanted = { ...rawDesired, overwrite: consent };
    const observed = rawNode(carrying(content), { intent: consented });
    expect(commands(wanted, observed)).toContainEqual(expect.stringMatching(/^wipefs --all/));
    // A disk without a name of its own that came since can carry the half of another table, but not that UUID.
    const identity = 'size=1073741824';
    const known = { ...consented, device: { path: '/dev/sdb', identity } };
    const other = made(
      wanted,
      rawNode({ ...carrying(content), identity, presence: 'b00t/8' }, { intent: known }),
    );
    expect('steps' in other).toBe(content.includes(OTHER));
    // A consent that was taken back, or given for something else, is none.
    for (const overwrite of [undefined, 'ext4:a']) {
      expect(made({ ...wanted, overwrite }, observed)).toHaveProperty('refusal');
    }
    expect(made(wanted, rawNode(carrying(content)))).toHaveProperty('refusal');
  });

  test('what was not there when it was consented to is refused', () => {
    const observed = rawNode(carrying(`gpt:${OTHER};1=none;2=btrfs:c`), { intent: consented });
    expect(made({ ...rawDesired, overwrite: consent }, observed)).toHaveProperty('refusal');
  });
});

describe('what was made', () => {
  const ours = carrying(`ext4:${UID}`);
  test.each<[string, ObservedRaw, RegExp, DesiredRaw?]>([
    ['overwritten', rawMade(disk), /should carry what was made for this Volume, but nothing/],
    ['overwritten by another', rawMade(carrying(`ext4:${OTHER}`)), /but ext4:1111/],
    [
      'exchanged, as the node records',
      rawMade({ ...ours, identity: 'serial=S2 size=1' }, { intent: intentFor(disk) }),
      /and not the device that was made ready \(wwn=0x5000/,
    ],
    [
      'exchanged, as the Volume records',
      rawMade(ours),
      /and not the device that was made ready \(serial=S2/,
      { ...rawDesired, recorded: true, identity: 'serial=S2 size=1073741824' },
    ],
    [
      "another Volume's by now, though nothing on it tells",
      rawNode(logical, { others: [intentFor(logical, { uid: OTHER })] }),
      /dm-0 belongs to another Volume, with the UID 1111/,
      { ...rawBlock, recorded: true, identity: logical.identity },
    ],
  ])('%s: refused, and left as it is', (_, observed, refusal, wanted = rawDesired) => {
    for (const operation of ['prepare', 'present'] as const) {
      // Not even with consent for what is there.
      const overwrite = observed.target.is === 'device' ? observed.target.facts.content : '';
      expect(made({ ...wanted, overwrite }, observed, operation)).toMatchObject({
        refusal: expect.stringMatching(refusal),
      });
    }
  });

  test('on a logical volume in mode Block it is known by a record, or taken for made where nobody else has one', () => {
    const others = [intentFor(logical, { uid: OTHER })];
    const wanted = { ...rawBlock, recorded: true, identity: logical.identity };
    for (const observed of [rawMade(logical, { others }), rawNode(logical)]) {
      expect(made(wanted, { ...observed, link: logical.device }, 'present')).toMatchObject({ steps: [] });
    }
  });

  test('is linked, and nothing else', () => {
    expect(commands(rawDesired, rawMade(ours))).toEqual([
      'udevadm trigger --action=change --name-match=/dev/sdb',
      `udevadm settle --timeout=10 --exit-if-exists=/dev/disk/by-uuid/${UID}`,
    ]);
    expect(commands(rawDesired, rawMade(ours, { link: '8:16' }))).toEqual([]);
    expect(commands(rawDesired, rawMade(ours, { link: '8:16', udev: false }))).toEqual([]);
    expect(made(rawDesired, rawMade(ours, { udev: false }))).toMatchObject({ passing: true });
  });

  test('is never written to, whatever is seen and consented to', () => {
    const contents = fc.constantFrom(...CONTENTS, '', `ext4:${UID}`, `xfs:${UID}`, `gpt:${UID}`, 'gpt');
    fc.assert(
      fc.property(
        fc.constantFrom(disk, partition, logical),
        contents,
        fc.option(contents, { nil: undefined }),
        fc.constantFrom(rawDesired, xfs, rawBlock),
        fc.constantFrom([true, true], [true, false], [false, true]),
        fc.boolean(),
        fc.constantFrom('prepare' as const, 'present' as const),
        fc.constantFrom(undefined, '8:16', '7:0'),
        (base, content, overwrite, wanted, [recorded = true, done], intended, operation, link) => {
          const facts = content === '' ? base : carrying(content, base);
          const observed = rawNode(facts, {
            ...(done ? { done: { sizeBytes: facts.sizeBytes } } : {}),
            ...(intended ? { intent: intentFor(facts, { consent: overwrite ?? 'none' }) } : {}),
            link,
          });
          const planned = made({ ...wanted, overwrite, recorded }, observed, operation);
          expect('steps' in planned ? writesTo(planned.steps) : []).toEqual([]);
        },
      ),
      { seed: TEST_SEED, numRuns: 2000 },
    );
  });
});

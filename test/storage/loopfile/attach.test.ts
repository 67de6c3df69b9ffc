import { describe, expect, test } from '@jest/globals';
import { plan } from '../../../src/storage/plan.ts';
import type { DesiredSparse, ObservedSparse } from '../../../src/storage/types.ts';
import {
  BY_PARTUUID,
  BY_UUID,
  LINK,
  SETTLE,
  settle,
  triggerUdev,
} from '../../support/link-words.ts';
import {
  FILE,
  freshNode,
  loop,
  loopRow,
  madeNode,
  readyNode,
  UID,
} from '../../support/volume-input.ts';
import {
  attached,
  away,
  BOUND,
  block,
  blockNode,
  type Case,
  desired,
  MOUNT,
  movedFiles,
  ofFile,
  onDemand,
  otherUsers,
  ours,
  POD_DIRECTORY,
  RULES,
  readOnly,
  run,
  table,
} from './plan-cases.ts';

const oddLoops: Case[] = [
  [
    'a second loop',
    { ...readyNode, loops: [loop, { ...loop, name: 'loop4' }] },
    /more than once: \/dev\/loop3, \/dev\/loop4/,
  ],
  [
    'a loop of a replaced file',
    attached({ backingInode: '41' }),
    /^\/dev\/loop3 has an earlier file/,
  ],
  [
    'a loop of a removed and replaced file',
    attached({ backingInode: '41', backingFile: `${FILE} (deleted)` }),
    /^\/dev\/loop3 has an earlier file/,
  ],
  [
    'a loop whose detach is pending',
    attached({ autoclear: true }),
    /^retryable: \/dev\/loop3 was detached while in use/,
  ],
  [
    'a read-only loop',
    attached({ readOnly: true }),
    /^\/dev\/loop3 is attached read-only, by another program or because the file could not be opened for writing$/,
  ],
  [
    'a loop of a part of the file',
    attached({ wholeFile: false }),
    /^another program attached \/dev\/loop3 with only a part of the file$/,
  ],
  ['no udev', { ...madeNode, udev: false }, /^retryable: udev is not running on the node/],
  [
    'no udev, and no link',
    { ...readyNode, link: undefined, udev: false },
    /^retryable: udev is not running on the node/,
  ],
  ['an attached device without udev, as during a shutdown', { ...readyNode, udev: false }, []],
];
const otherContent: Case[] = [
  [
    'a file without a signature',
    { ...madeNode, signature: { found: 'none' } },
    new RegExp(`should contain a file system ${UID}, but nothing was found`),
  ],
  [
    'a file with another UUID',
    { ...madeNode, signature: { ...ours, uuid: 'x' } },
    /but ext4 x was found/,
  ],
  [
    'a file with another type',
    { ...madeNode, signature: { ...ours, type: 'swap' } },
    new RegExp(`but swap ${UID} was found`),
  ],
  [
    'a file with a type alone',
    { ...madeNode, signature: { found: 'one', type: 'gpt' } },
    /but gpt was found/,
  ],
  [
    'a file with several signatures',
    { ...madeNode, signature: { found: 'ambivalent' } },
    /but more than one signature was found/,
  ],
  [
    'a path that leads to no file',
    { ...madeNode, file: { type: 'other' } },
    /is not a regular file/,
  ],
];
const attaching: Case[] = [
  ['a provisioned file', madeNode, run('attach')],
  ['an attached device', readyNode, []],
  ['a missing link', { ...readyNode, link: undefined }, run('rule', 'trigger')],
  [
    'a link to a loop that is stacked on the device',
    {
      ...readyNode,
      loops: [loop, { ...loop, name: 'loop4', device: '7:4', backingFile: '/dev/loop3' }],
      link: '7:4',
    },
    [],
  ],
  ['a link to another device', { ...readyNode, link: '7:4' }, run('rule', 'lookAgain')],
  [
    'a file in a linked directory',
    { ...attached({ backingFile: '/data/x' }), realPath: '/data/x' },
    [],
  ],
  [
    'loops of other files',
    { ...madeNode, loops: [{ ...loop, backingFile: `${FILE}2` }] },
    run('attach'),
  ],
  ...oddLoops,
  ...otherContent,
  [
    'an earlier volume of the same name that pods still use',
    { ...madeNode, mounts: new Map([['8:1', [MOUNT]]]) },
    /^retryable: the kubelet has another volume named data1 mounted at .*mounts\/data1/,
  ],
  [
    'an attached device, and an earlier volume of the same name that a pod still uses',
    { ...readyNode, mounts: new Map([['8:1', [POD_DIRECTORY]]]) },
    /^retryable: the kubelet has another volume named data1/,
  ],
  [
    'a device that pods use',
    {
      ...readyNode,
      mounts: new Map([['7:3', [MOUNT, POD_DIRECTORY]]]),
      kubeletFolders: [MOUNT, POD_DIRECTORY],
    },
    [],
  ],
  [
    'a Block volume that pods use',
    blockNode({ mounts: new Map([['0:5', [BOUND]]]), kubeletFolders: [BOUND] }),
    [],
    block,
  ],
];

// A provisioned Volume is attached by a provision operation, too.
table('provision', attaching);
const larger = { sizeBytes: 2n << 30n };
table('attach', [
  ['an on-demand volume', madeNode, run('attach'), onDemand],
  ['a read-only volume', madeNode, run('attachReadOnly'), readOnly],
  [
    'a Block volume that is attached read-only',
    { ...madeNode, signature: { found: 'one', type: 'gpt', uuid: UID } },
    [
      ...RULES.Block,
      `losetup -r --partscan /dev/loop5 ${FILE}`,
      'partx --update --nr 1 /dev/loop5',
      SETTLE,
      settle(),
    ],
    { ...readOnly, ...block },
  ],
  ['a read-only loop of a read-only volume', attached({ readOnly: true }), [], readOnly],
  [
    'a writable loop of a read-only volume',
    readyNode,
    /^another program attached \/dev\/loop3 for writing$/,
    readOnly,
  ],
  [
    'the partition of a read-only loop',
    blockNode({ loops: [{ ...loop, readOnly: true }] }),
    [],
    { ...readOnly, ...block },
  ],
  [
    'a larger size of a read-only volume',
    attached({ readOnly: true }),
    [],
    { ...readOnly, ...larger },
  ],
  [
    'a larger size of a read-only Block volume',
    blockNode({ loops: [{ ...loop, readOnly: true }] }),
    [],
    { ...readOnly, ...larger, ...block },
  ],
  ['a missing file', freshNode, /^the backing file .* is missing$/],
  [
    'a file in a directory that is not mounted',
    away(freshNode),
    /^the file system of .* is not mounted: /,
  ],
  ...attaching,
  ...movedFiles,
  ...otherUsers.map(
    ([what, observed]): Case => [
      what,
      observed,
      run(observed.link === undefined ? 'attach' : 'attachAstray'),
    ],
  ),
]);

/** Result of blkid for the file of a Block volume. */
const GPT = { found: 'one', type: 'gpt', uuid: UID } as const;
const earlier = { earlierLink: BY_UUID };
const earlierBlock = { ...block, earlierLink: BY_PARTUUID };
const READ_PART = 'partx --update --nr 1';
// A recorded path is kept, and a rule for udev assigns it to the volume, regardless of other
// content.
table('attach', [
  [
    'a volume of an earlier version that is not attached',
    madeNode,
    [...RULES.earlierFilesystem, `losetup /dev/loop5 ${FILE}`, settle(BY_UUID)],
    earlier,
  ],
  ['an attached volume of an earlier version', readyNode, [], earlier],
  [
    'a volume of an earlier version whose link is missing',
    { ...readyNode, link: undefined },
    [...RULES.earlierFilesystem, triggerUdev('loop3'), settle(BY_UUID)],
    earlier,
  ],
  [
    'a Block volume that is not attached',
    { ...madeNode, signature: GPT },
    [
      ...RULES.Block,
      `losetup --partscan /dev/loop5 ${FILE}`,
      `${READ_PART} /dev/loop5`,
      SETTLE,
      settle(),
    ],
    block,
  ],
  [
    'a Block volume whose link is missing',
    blockNode({ link: undefined }),
    [...RULES.Block, `${READ_PART} /dev/loop3`, triggerUdev('loop3p1'), settle()],
    block,
  ],
  [
    'a Block volume whose partition the kernel has not read',
    blockNode({ devices: [loopRow], link: undefined }),
    [...RULES.Block, `${READ_PART} /dev/loop3`, triggerUdev('loop3'), settle()],
    block,
  ],
  [
    'a Block volume of an earlier version that is not attached',
    { ...madeNode, signature: GPT },
    [
      ...RULES.earlierBlock,
      `losetup --partscan /dev/loop5 ${FILE}`,
      `${READ_PART} /dev/loop5`,
      SETTLE,
      settle(BY_PARTUUID),
    ],
    earlierBlock,
  ],
  [
    'a Block volume of an earlier version whose link is missing',
    blockNode({ link: undefined }),
    [...RULES.earlierBlock, `${READ_PART} /dev/loop3`, triggerUdev('loop3p1'), settle(BY_PARTUUID)],
    earlierBlock,
  ],
]);

describe('the udev rule for the persistent path', () => {
  const rule = (realPath: string) => {
    const made = plan('attach', desired, { ...madeNode, realPath }, 5);
    return 'steps' in made ? made.steps[1]?.argv.at(-1) : made.refusal;
  };
  test.each([FILE, `/srv/a_b-c.d/${UID}`])(
    'matches the whole path if udev takes it literally: %s',
    (path) => {
      expect(rule(path)).toContain(`,${ofFile(path)},`);
    },
  );

  // udev's patterns, characters that end its string or line, and characters with a special meaning.
  test.each(['*', '?', '[a]', '|', '"', '\\', ' ', '\n', '$env{x}', '%k', 'é', ','])(
    'matches only the file name in a directory with %j in its path',
    (odd) => {
      expect(rule(`/srv/${odd}/${UID}`)).toBe(
        rule(FILE)?.replace(ofFile(FILE), ofFile(`*/${UID}`)),
      );
    },
  );
});

describe('a persistent path that leads to another device', () => {
  const other = { ...loopRow, name: 'sdz', device: '65:16', type: 'disk' };
  const also = (node: ObservedSparse, link = other.device): ObservedSparse => ({
    ...node,
    devices: [...node.devices, other],
    link,
  });
  test.each<[string, ObservedSparse, Partial<DesiredSparse>, string, string[]]>([
    [
      'an attached file',
      also(readyNode),
      {},
      `${LINK} leads to /dev/sdz, not to the volume's device /dev/loop3`,
      [...RULES.Filesystem, triggerUdev('loop3'), SETTLE],
    ],
    [
      'a file that is not attached',
      also(madeNode),
      {},
      `${LINK} leads to /dev/sdz, and the volume has no device`,
      [...RULES.Filesystem, `losetup /dev/loop5 ${FILE}`, SETTLE],
    ],
    [
      'a Block volume, with a path to the whole loop device',
      also(blockNode(), '7:3'),
      block,
      `${LINK} leads to /dev/loop3, not to the volume's device /dev/loop3p1`,
      [...RULES.Block, `${READ_PART} /dev/loop3`, triggerUdev('loop3p1'), SETTLE],
    ],
    [
      'a Block volume whose partition the kernel has not read',
      { ...also(blockNode()), devices: [loopRow, other] },
      block,
      `${LINK} leads to /dev/sdz, and the volume has no device`,
      [...RULES.Block, `${READ_PART} /dev/loop3`, triggerUdev('loop3'), SETTLE],
    ],
    [
      'a volume of an earlier version, beside a device with its UUID',
      also(readyNode),
      earlier,
      `${BY_UUID} leads to /dev/sdz, not to the volume's device /dev/loop3`,
      [...RULES.earlierFilesystem, triggerUdev('loop3'), SETTLE],
    ],
    [
      'a volume of an earlier version that is not attached',
      also(madeNode),
      earlier,
      `${BY_UUID} leads to /dev/sdz, and the volume has no device`,
      [...RULES.earlierFilesystem, `losetup /dev/loop5 ${FILE}`, SETTLE],
    ],
    [
      'a Block volume of an earlier version',
      also(blockNode()),
      earlierBlock,
      `${BY_PARTUUID} leads to /dev/sdz, not to the volume's device /dev/loop3p1`,
      [...RULES.earlierBlock, `${READ_PART} /dev/loop3`, triggerUdev('loop3p1'), SETTLE],
    ],
  ])('is reported and repaired: %s', (_, observed, wanted, astray, steps) => {
    const made = plan('attach', { ...desired, ...wanted }, observed, 5);
    expect(made).toMatchObject({ astray });
    expect('steps' in made && made.steps.map(({ argv }) => argv.join(' '))).toEqual(steps);
  });

  test.each<[string, ObservedSparse]>([
    ['is missing', { ...readyNode, link: undefined }],
    ['leads to the device', readyNode],
    ['is missing with the device', madeNode],
    ['leads to a device that appeared after the listing', { ...madeNode, link: '7:5' }],
    [
      'leads to a loop device that appeared after the loops were listed',
      { ...madeNode, devices: [{ ...loopRow, name: 'loop5', device: '7:5' }], link: '7:5' },
    ],
    [
      'leads to a loop that is stacked on the device',
      attached(
        {},
        {
          loops: [loop, { ...loop, name: 'loop4', device: '7:4', backingFile: '/dev/loop3' }],
          link: '7:4',
        },
      ),
    ],
  ])('is not reported for one that %s', (_, observed) => {
    expect(plan('attach', desired, observed, 5)).not.toHaveProperty('astray');
  });
});

import { FILE, freshNode, loop, madeNode, readyNode, UID } from '../../support/volume-input.ts';
import {
  attached,
  away,
  BOUND,
  block,
  blockNode,
  type Case,
  MOUNT,
  movedFiles,
  onDemand,
  otherUsers,
  ours,
  POD_FOLDER,
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
  ['a loop of a replaced file', attached({ backingInode: '41' }), /^\/dev\/loop3 has an earlier file/],
  [
    'a loop of a removed and replaced file',
    attached({ backingInode: '41', backingFile: `${FILE} (deleted)` }),
    /^\/dev\/loop3 has an earlier file/,
  ],
  [
    'a loop that is about to go',
    attached({ autoclear: true }),
    /^passing: \/dev\/loop3 was detached while in use/,
  ],
  [
    'a read-only loop',
    attached({ readOnly: true }),
    /^\/dev\/loop3 was attached by someone else: read-only, or the file could not be opened to write$/,
  ],
  [
    'a loop of a part of the file',
    attached({ wholeFile: false }),
    /by someone else: a part of the file only/,
  ],
  ['no udev', { ...madeNode, udev: false }, /^passing: no udev runs on the node/],
  [
    'no udev, and no link',
    { ...readyNode, link: undefined, udev: false },
    /^passing: no udev runs on the node/,
  ],
  ['no udev any more, as while the node shuts down', { ...readyNode, udev: false }, []],
];
const otherContent: Case[] = [
  [
    'a file with nothing in it',
    { ...madeNode, signature: { found: 'none' } },
    new RegExp(`should hold a file system ${UID}, but nothing was found`),
  ],
  ['a file with another UUID', { ...madeNode, signature: { ...ours, uuid: 'x' } }, /but ext4 x was found/],
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
  ['something that is no file', { ...madeNode, file: { type: 'other' } }, /is not a plain file/],
];
const attaching: Case[] = [
  ['a file that is made', madeNode, run('attach')],
  ['a device that is there', readyNode, []],
  ['a link that is missing', { ...readyNode, link: undefined }, run('linkAnyway', 'trigger')],
  [
    'a link to a loop that is stacked on it',
    {
      ...readyNode,
      loops: [loop, { ...loop, name: 'loop4', device: '7:4', backingFile: '/dev/loop3' }],
      link: '7:4',
    },
    [],
  ],
  ['a link to another device', { ...readyNode, link: '7:4' }, run('lookAgain')],
  ['a file under a linked folder', { ...attached({ backingFile: '/data/x' }), realPath: '/data/x' }, []],
  ["others' loops", { ...madeNode, loops: [{ ...loop, backingFile: `${FILE}2` }] }, run('attach')],
  ...oddLoops,
  ...otherContent,
  [
    'an earlier volume of the name that pods still use',
    { ...madeNode, mounts: new Map([['8:1', [MOUNT]]]) },
    /^passing: the kubelet has another volume of the name data1 mounted at .*mounts\/data1/,
  ],
  [
    'a device of its own, and an earlier volume of the name that a pod still uses',
    { ...readyNode, mounts: new Map([['8:1', [POD_FOLDER]]]) },
    /^passing: the kubelet has another volume of the name data1/,
  ],
  [
    'a device that pods use',
    { ...readyNode, mounts: new Map([['7:3', [MOUNT, POD_FOLDER]]]), kubeletFolders: [MOUNT, POD_FOLDER] },
    [],
  ],
  [
    'a Block volume that pods use',
    blockNode({ mounts: new Map([['0:5', [BOUND]]]), kubeletFolders: [BOUND] }),
    [],
    block,
  ],
];

// A Volume that is made is attached by a prepare, too.
table('prepare', attaching);
const larger = { sizeBytes: 2n << 30n };
table('present', [
  ['what is attached on demand', madeNode, run('attach'), onDemand],
  ['what is attached read-only', madeNode, run('attachReadOnly'), readOnly],
  [
    'a Block volume that is attached read-only',
    { ...madeNode, signature: { found: 'one', type: 'gpt', uuid: UID } },
    [
      `losetup -r --partscan /dev/loop5 ${FILE}`,
      'partx --update --nr 1 /dev/loop5',
      `udevadm settle --timeout=10 --exit-if-exists=/dev/disk/by-partuuid/${UID}`,
    ],
    { ...readOnly, ...block },
  ],
  ['a read-only loop where that is wanted', attached({ readOnly: true }), [], readOnly],
  [
    'a loop that can be written to where that is not wanted',
    readyNode,
    /^\/dev\/loop3 was attached by someone else: so that it can be written to$/,
    readOnly,
  ],
  [
    'the partition of a read-only loop',
    blockNode({ loops: [{ ...loop, readOnly: true }] }),
    [],
    { ...readOnly, ...block },
  ],
  ['a larger size of what is read-only', attached({ readOnly: true }), [], { ...readOnly, ...larger }],
  [
    'a larger size of a Block volume that is read-only',
    blockNode({ loops: [{ ...loop, readOnly: true }] }),
    [],
    { ...readOnly, ...larger, ...block },
  ],
  ['a missing file', freshNode, /^the backing file .* is missing$/],
  ['a file in a directory that is not mounted', away(freshNode), /^the file system of .* is not mounted: /],
  ...attaching,
  ...movedFiles,
  ...otherUsers.map(([what, observed]): Case => [what, observed, run('attach')]),
]);

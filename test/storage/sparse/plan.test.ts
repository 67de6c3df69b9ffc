import { describe, expect, test } from '@jest/globals';
import { plan } from '../../../src/storage/plan.ts';
import type {
  BlockDevice,
  DesiredSparse,
  Intent,
  LoopFacts,
  ObservedSparse,
  Operation,
} from '../../../src/storage/types.ts';
import { QUIET } from '../../support/fake-shared.ts';
import {
  FILE,
  freshNode,
  loop,
  loopRow,
  madeNode,
  readyNode,
  sparseDesired,
  UID,
} from '../../support/volume-input.ts';

const desired: DesiredSparse = { ...sparseDesired, fs: { type: 'ext4', options: ['-m', '0'] } };
const recorded: DesiredSparse = { ...desired, recorded: true };
const onDemand: DesiredSparse = { ...desired, onDemand: true };
const readOnly: DesiredSparse = { ...desired, onDemand: true, readOnly: true };
const shared: DesiredSparse = {
  ...desired,
  onDemand: true,
  shared: true,
  owner: { node: 'n1', token: 't1' },
};
const block: DesiredSparse = { ...desired, mode: 'Block', fs: undefined };
const FOLDER = '/var/lib/metalk8s/storage/sparse';
const RECORDS = '/var/lib/stowage/volumes';

const file = { type: 'file', sizeBytes: 1n << 30n, inode: '42' } as const;
const ours = { found: 'one', type: 'ext4', uuid: UID } as const;
/** The intent is written; nothing is made. */
const intended: ObservedSparse = { ...freshNode, intent: madeNode.intent, recordFiles: true };
/** The file has its name; done is not written. */
const renamed: ObservedSparse = { ...madeNode, done: undefined };
/** A file of someone else. */
const foreign: ObservedSparse = { ...freshNode, file, signature: { found: 'one', type: 'xfs', uuid: 'x' } };

const attached = (facts: Partial<LoopFacts>, more: Partial<ObservedSparse> = {}): ObservedSparse => ({
  ...readyNode,
  loops: [{ ...loop, ...facts }],
  ...more,
});

/** The first words of every command, which say what is done to what. */
const INTENT = [
  'install -d -m 0700 /var/lib/stowage /var/lib/stowage/volumes',
  `dd of=${RECORDS}/${UID}.intent.new conv=fsync status=none`,
  `mv -T ${RECORDS}/${UID}.intent.new ${RECORDS}/${UID}.intent`,
  `sync ${RECORDS} /var/lib/stowage /var/lib`,
];
const MKDIR = `mkdir -p -m 0700 -- ${FOLDER}`;
const MAKE = [
  `rm -f -- ${FILE}.partial`,
  `truncate -s 1073741824 -- ${FILE}.partial`,
  `mkfs.ext4 -q -F -m 0 -U ${UID} ${FILE}.partial`,
  `sync ${FILE}.partial`,
  `mv -T -- ${FILE}.partial ${FILE}`,
  `sync ${FOLDER}`,
];
const DONE = [
  `dd of=${RECORDS}/${UID}.done.new conv=fsync status=none`,
  `mv -T ${RECORDS}/${UID}.done.new ${RECORDS}/${UID}.done`,
  `sync ${RECORDS}`,
];
const SETTLE = `udevadm settle --timeout=10 --exit-if-exists=/dev/disk/by-uuid/${UID}`;
const ATTACH = [`losetup /dev/loop5 ${FILE}`, SETTLE];
const TRIGGER = ['udevadm trigger --action=change --name-match=/dev/loop3', SETTLE];
const DETACH = 'losetup -d /dev/loop3';
const KUBELET = '/var/lib/kubelet';
const POD = '7c0a6d8e-5c0c-4a5b-8d0e-0c8e4bb3b1a1';
const MOUNT = `${KUBELET}/plugins/kubernetes.io/local-volume/mounts/data1`;
const POD_FOLDER = `${KUBELET}/pods/${POD}/volumes/kubernetes.io~local-volume/data1`;
const BOUND = `${KUBELET}/plugins/kubernetes.io~local-volume/volumeDevices/data1/${POD}`;
/** A Block volume: the loop, its partition, and a table in the file. */
const part: BlockDevice = { ...loopRow, name: 'loop3p1', device: '259:1', parent: 'loop3', type: 'part' };
const blockNode = (more: Partial<ObservedSparse> = {}): ObservedSparse => ({
  ...readyNode,
  signature: { found: 'one', type: 'gpt', uuid: UID },
  devices: [loopRow, part],
  link: '259:1',
  ...more,
});
const asReadOnly = { ...loop, readOnly: true };
const RECORD_FILES = ['done', 'intent', 'wiped'].flatMap((name) => [
  `${RECORDS}/${UID}.${name}`,
  `${RECORDS}/${UID}.${name}.new`,
]);
const FORGET = [`rm -f ${RECORD_FILES.join(' ')} ${RECORDS}/${UID}.cancel`, `sync ${RECORDS}`];
const REMOVE = [`rm -f -- ${FILE}`, `sync ${FOLDER}`];
const REMOVE_PARTIAL = [`rm -f -- ${FILE}.partial`, `sync ${FOLDER}`];

function commands(operation: Operation, wanted: DesiredSparse, observed: ObservedSparse): string[] | string {
  const made = plan(operation, wanted, observed, 5);
  if ('steps' in made) return made.steps.map(({ argv }) => argv.join(' '));
  return `${made.passing ? 'passing: ' : ''}${made.refusal}`;
}

type Case = [name: string, observed: ObservedSparse, outcome: string[] | RegExp, wanted?: DesiredSparse];

function table(operation: Operation, cases: Case[]): void {
  test.each(cases)(`${operation}: %s`, (_, observed, outcome, wanted = desired) => {
    const made = commands(operation, wanted, observed);
    if (outcome instanceof RegExp) expect(made).toMatch(outcome);
    else expect(made).toEqual(outcome);
  });
}

describe('what remains to be done to', () => {
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
    [
      'a read-only loop of a part of the file',
      attached({ wholeFile: false, readOnly: true }),
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
  const presentOnly: Case[] = [
    ['a file that is made', madeNode, ATTACH],
    ['a device that is there', readyNode, []],
    ['a link that is missing', { ...readyNode, link: undefined }, TRIGGER],
    [
      'a link to a loop that is stacked on it',
      {
        ...readyNode,
        loops: [loop, { ...loop, name: 'loop4', device: '7:4', backingFile: '/dev/loop3' }],
        link: '7:4',
      },
      [],
    ],
    ['a link to another device', { ...readyNode, link: '7:4' }, TRIGGER],
    ['a file under a linked folder', { ...attached({ backingFile: '/data/x' }), realPath: '/data/x' }, []],
    ["others' loops", { ...madeNode, loops: [{ ...loop, backingFile: `${FILE}2` }] }, ATTACH],
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

  table('prepare', [
    ['a fresh node', freshNode, [MKDIR, ...INTENT, ...MAKE, ...DONE, ...ATTACH]],
    ['half an intent', { ...freshNode, recordFiles: true }, [MKDIR, ...INTENT, ...MAKE, ...DONE, ...ATTACH]],
    ['an intent', intended, [MKDIR, ...MAKE, ...DONE, ...ATTACH]],
    ['a partial', { ...intended, partial: file }, [MKDIR, ...MAKE, ...DONE, ...ATTACH]],
    [
      'a claim that had a volume here before',
      { ...freshNode, earlier: ['0b1d.intent', '0b1d.done'] },
      /a Volume pvc-.* was made on this node before, with the UID 0b1d: its data may be in \/var/,
      { ...desired, name: `pvc-${UID}`, once: true },
    ],
    [
      'a claim of whose volume there is an intent',
      {
        ...intended,
        intent: { version: 1, uid: UID, once: 'data1', ...intended.intent } as Intent,
        earlier: [],
      },
      [MKDIR, ...MAKE, ...DONE, ...ATTACH],
      { ...desired, once: true },
    ],
    ['a renamed file', renamed, [`sync ${FILE} ${FOLDER}`, ...DONE, ...ATTACH]],
    ['a volume that the node forgot', { ...freshNode, file, signature: ours }, ATTACH, recorded],
    [
      'a done volume whose file is gone',
      { ...madeNode, file: { type: 'missing' } },
      /was made before and is missing now/,
    ],
    ['a recorded volume whose file is gone', freshNode, /was made before and is missing now/, recorded],
    [
      'a file of someone else',
      foreign,
      /is there already, and nothing on the node says that Stowage made it/,
    ],
    ['a partial of someone else', { ...freshNode, partial: file }, /\.partial is there already/],
    ['a folder of that name', { ...freshNode, file: { type: 'other' } }, /is there already/],
    [
      'an intent for another file',
      { ...intended, intent: { ...renamed.intent, file: '/x' } as NonNullable<ObservedSparse['intent']> },
      /records for this Volume \/x, not /,
    ],
    [
      'an intent of another Volume',
      { ...intended, intent: { ...renamed.intent, uid: 'x' } as NonNullable<ObservedSparse['intent']> },
      /records for this Volume/,
    ],
    [
      'a renamed file with other content',
      { ...renamed, signature: { found: 'none' } },
      /but nothing was found/,
    ],
    [
      'a loop of a removed file',
      { ...freshNode, loops: [{ ...loop, backingFile: `${FILE} (deleted)` }] },
      /has an earlier file/,
    ],
    ...presentOnly,
    [
      'a fresh node, of what is attached on demand',
      freshNode,
      [MKDIR, ...INTENT, ...MAKE, ...DONE],
      onDemand,
    ],
    ['what is made, of what is attached on demand', { ...madeNode, udev: false }, [], onDemand],
    ['what is attached on demand, and is', attached({ backingInode: '41' }), [], onDemand],
    [
      'a missing file of what is attached on demand',
      freshNode,
      /is missing now/,
      { ...onDemand, recorded: true },
    ],
    [
      'a fresh node, of what is attached read-only',
      freshNode,
      [MKDIR, ...INTENT, ...MAKE, ...DONE, `losetup -r /dev/loop5 ${FILE}`, SETTLE],
      { ...readOnly, onDemand: false },
    ],
  ]);

  const larger = { sizeBytes: 2n << 30n };
  table('present', [
    ['what is attached on demand', madeNode, ATTACH, onDemand],
    ['what is attached read-only', madeNode, [`losetup -r /dev/loop5 ${FILE}`, SETTLE], readOnly],
    [
      'a Block volume that is attached read-only',
      { ...madeNode, signature: { found: 'one', type: 'gpt', uuid: UID } },
      [
        `losetup -r --partscan /dev/loop5 ${FILE}`,
        'partx --update --nr 1 /dev/loop5',
        `udevadm settle --timeout=10 --exit-if-exists=/dev/disk/by-partuuid/${UID}`,
      ],
      { ...readOnly, mode: 'Block', fs: undefined },
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
      blockNode({ loops: [asReadOnly] }),
      [],
      { ...readOnly, mode: 'Block', fs: undefined },
    ],
    ['a larger size of what is read-only', attached({ readOnly: true }), [], { ...readOnly, ...larger }],
    [
      'a larger size of a Block volume that is read-only',
      blockNode({ loops: [asReadOnly] }),
      [],
      { ...readOnly, ...larger, mode: 'Block', fs: undefined },
    ],
    ['a missing file', freshNode, /^the backing file .* is missing$/],
    ['a missing file that was recorded', { ...madeNode, file: { type: 'missing' } }, /is missing$/, recorded],
    ...presentOnly,
  ]);

  const inUse: Case[] = [
    [
      'a mounted device',
      { ...readyNode, mounts: new Map([['7:3', ['/a', '/b']]]) },
      /^passing: \/dev\/loop3 is in use: mounted at \/a, \/b$/,
    ],
    [
      'a stacked loop',
      { ...readyNode, loops: [loop, { ...loop, name: 'loop4', backingFile: '/dev/loop3' }] },
      /^passing: .*\/dev\/loop4 is stacked on it$/,
    ],
    [
      'a device that goes when it is closed',
      attached({ autoclear: true }),
      /^passing: .*some process has it open$/,
    ],
    [
      'a device that a pod uses',
      { ...readyNode, kubeletFolders: [MOUNT, POD_FOLDER] },
      new RegExp(
        `^passing: /dev/loop3 is in use: the kubelet has ${POD_FOLDER} for the pod with the UID ${POD}$`,
      ),
    ],
    [
      'a device for which the kubelet has a place',
      { ...readyNode, kubeletFolders: [MOUNT] },
      new RegExp(`^passing: /dev/loop3 is in use: the kubelet has ${MOUNT}$`),
    ],
    [
      'a device that the kubelet bound',
      blockNode({ kubeletFolders: [BOUND] }),
      new RegExp(`^passing: .* the kubelet has ${BOUND} for the pod with the UID ${POD}$`),
      block,
    ],
  ];

  const removed: ObservedSparse = {
    ...attached({ backingFile: `${FILE} (deleted)` }),
    file: { type: 'missing' },
  };
  /** The device has what was the Volume's file, under another path. */
  const MOVED = /^passing: \/dev\/loop3, which the persistent path leads to, has .* and not /;
  const moved: Case[] = [
    ['removed by an NFS client', attached({ backingFile: `${FOLDER}/.nfs0000000000a2` }), MOVED],
    ['of a directory that was unmounted', attached({ backingFile: `/${UID}` }), MOVED],
    ['of a folder that was moved', attached({ backingFile: `/old/${UID} (deleted)` }), MOVED],
    [
      'of a partition',
      { ...blockNode({ loops: [{ ...loop, backingFile: `/${UID}` }] }), link: '259:1' },
      MOVED,
      block,
    ],
  ];
  const NO_LINK = { link: undefined };
  /** What has the path for the moment, and is none of it: it is read, or not made to the end. */
  const others: [string, ObservedSparse][] = [
    ['a snapshot', attached({ backingFile: `${FOLDER}/snapshots/5a1c2b1f-7a54-4f0a-9c53-2f2d8f0b7e11` })],
    ['an unfinished copy', attached({ backingFile: `${FOLDER}/${UID.replace('6', '7')}.partial` })],
    ['a device that the path does not lead to', attached({ backingFile: `/${UID}` }, NO_LINK)],
  ];
  /** The device is all that still leads to the data. */
  const LAST = /^\/dev\/loop3 has an earlier file .* was removed or replaced/;
  table('absent', [
    ['nothing', freshNode, []],
    ['a file that is not attached', madeNode, []],
    ['a device', readyNode, [DETACH]],
    ['a device of a removed file', removed, LAST],
    ['a device of a replaced file', attached({ backingInode: '41' }), LAST],
    [
      'a device of a removed file that is in use',
      { ...removed, mounts: new Map([['7:3', ['/a']]]) },
      /mounted/,
    ],
    ['a device of a removed file whose data is given up', removed, [DETACH], { ...desired, givenUp: true }],
    [
      'a device of a replaced file whose data is given up',
      attached({ backingInode: '41' }),
      [DETACH],
      { ...desired, givenUp: true },
    ],
    [
      'a device of a removed file that nodes share, given up',
      { ...removed, shared: QUIET },
      [DETACH],
      { ...shared, givenUp: true },
    ],
    ['a device of a removed file that nodes share', { ...removed, shared: QUIET }, LAST, shared],
    [
      'several devices',
      { ...readyNode, loops: [loop, { ...loop, name: 'loop4', device: '7:4' }] },
      [DETACH, 'losetup -d /dev/loop4'],
    ],
    [
      "others' devices and mounts",
      { ...readyNode, loops: [{ ...loop, backingFile: '/x' }], mounts: new Map([['7:3', ['/a']]]) },
      [],
    ],
    ['folders of the kubelet, and no device', { ...madeNode, kubeletFolders: [POD_FOLDER] }, []],
    ['a read-only device', attached({ readOnly: true }), [DETACH], readOnly],
    [
      'a device of a shared file',
      { ...readyNode, shared: QUIET },
      [`sync /dev/loop3 ${FILE}`, DETACH],
      shared,
    ],
    [
      'a partition of a shared file',
      { ...blockNode(), shared: QUIET },
      [`sync /dev/loop3p1 /dev/loop3 ${FILE}`, DETACH],
      { ...shared, mode: 'Block', fs: undefined },
    ],
    [
      'a shared file, which was only read',
      { ...attached({ readOnly: true }), shared: QUIET },
      [DETACH],
      { ...shared, readOnly: true },
    ],
    ...inUse,
    ...moved.map(([what, ...rest]): Case => [`a device of a file, ${what}`, ...rest]),
    ...others.map(([what, observed]): Case => [`${what} that is attached`, observed, []]),
  ]);
  table('present', [
    ...moved.map(([what, ...rest]): Case => [`a device of a file, ${what}`, ...rest]),
    ...others.map(([what, observed]): Case => [`${what} that is attached`, observed, ATTACH]),
  ]);

  table('destroy', [
    ['nothing', freshNode, []],
    ['a recorded volume of which nothing is left', freshNode, [], recorded],
    ['half an intent', { ...freshNode, recordFiles: true }, FORGET],
    ['an intent', intended, FORGET],
    ['a partial', { ...intended, partial: file }, [...REMOVE_PARTIAL, ...FORGET]],
    ['a renamed file', renamed, [...REMOVE, ...FORGET]],
    ['a file that is made', madeNode, [...REMOVE, ...FORGET]],
    ['a device', readyNode, [DETACH, ...REMOVE, ...FORGET]],
    ['a volume that the node forgot', { ...freshNode, file, signature: ours }, REMOVE, recorded],
    ['a file that is gone', removed, [DETACH, ...FORGET], recorded],
    ['a file that is gone, and whose data is to be kept', removed, LAST, { ...recorded, onDelete: 'Retain' }],
    ['a file that is gone, and whose data is to be wiped', removed, LAST, { ...recorded, onDelete: 'Wipe' }],
    [
      'a done record without an intent',
      { ...freshNode, done: { sizeBytes: 1n << 30n }, recordFiles: true },
      FORGET,
    ],
    ['a file of someone else', foreign, []],
    ['a partial of someone else', { ...freshNode, partial: file }, []],
    [
      'an intent of another Volume',
      { ...intended, file, intent: { ...renamed.intent, uid: 'x' } as NonNullable<ObservedSparse['intent']> },
      [],
    ],
    [
      'an intent for another file',
      {
        ...intended,
        file,
        intent: { ...renamed.intent, file: '/x' } as NonNullable<ObservedSparse['intent']>,
      },
      [],
    ],
    ...inUse,
  ]);
});

describe('before a step', () => {
  const guardsOf = (operation: Operation, observed: ObservedSparse, program: string) => {
    const made = plan(operation, desired, observed, 5);
    const step = 'steps' in made ? made.steps.find(({ argv }) => argv[0] === program) : undefined;
    return step?.guards.map(({ argv, expect }) => [argv.join(' '), expect]);
  };

  test('mkfs: nothing has the name, nothing is in the partial', () => {
    expect(guardsOf('prepare', freshNode, 'mkfs.ext4')).toEqual([
      [`test ! -e /var/lib/stowage/volumes/${UID}.done`, { exit: 0 }],
      [`test ! -e ${FILE}`, { exit: 0 }],
      [`blkid -p ${FILE}.partial`, { exit: 2 }],
    ]);
  });

  test('attach: it is not attached, and it is our file system', () => {
    expect(guardsOf('present', madeNode, 'losetup')).toEqual([
      [`losetup -j ${FILE}`, { exit: 0, stdout: { is: '' } }],
      [`blkid -p -o value -s UUID ${FILE}`, { exit: 0, stdout: { is: UID } }],
    ]);
  });

  test('detach: the same file of the device and of the path, nothing stacked, no mount of any process, no file system without one, no open file by device number, no holder, no swap, no folder of the kubelet', () => {
    const device = { ...loop, device: '259:31' };
    const guards = guardsOf('absent', { ...readyNode, loops: [device] }, 'losetup');
    expect(guards?.map(([, expected]) => expected)).toEqual([
      { exit: 0, stdout: { is: '42' } },
      { exit: 0, stdout: { is: `${1n << 30n}|42` } },
      { exit: 0, stdout: { is: '' } },
      { stdout: { has: ' / /proc ', lacks: ' 259:31 ' } },
      { exit: 0, stdout: { is: '/sys/fs' } },
      { exit: 0, stdout: { is: '' } },
      { exit: 0, stdout: { has: 'Filename', lacks: '/dev/loop3 ' } },
      { stdout: { has: '/character special file|1:3/', lacks: '/block special file|103:1f/' } },
      { stdout: { has: '/dev/null', lacks: 'local-volume/' } },
    ]);
  });

  test('detach: whether the path leads to the file still is nothing to a Volume whose data is given up', () => {
    const givenUp = plan('absent', { ...desired, givenUp: true }, readyNode, 5);
    const programs = 'steps' in givenUp ? givenUp.steps[0]?.guards.map(({ argv }) => argv[0]) : [];
    expect(programs).toContain('losetup');
    expect(programs).not.toContain('stat');
  });

  test('remove: no loop has it', () => {
    expect(guardsOf('destroy', madeNode, 'rm')).toEqual([
      [`losetup -j ${FILE}`, { exit: 0, stdout: { is: '' } }],
    ]);
  });

  test('only attaching and waiting for the link may be outrun', () => {
    const made = plan('prepare', desired, freshNode, 5);
    expect('steps' in made && made.steps.filter(({ mayRace }) => mayRace).map(({ argv }) => argv[0])).toEqual(
      ['losetup', 'udevadm'],
    );
  });
});

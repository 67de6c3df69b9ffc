import type { ObservedSparse } from '../../../src/storage/types.ts';
import { QUIET } from '../../support/fake-shared.ts';
import { FILE, freshNode, loop, madeNode, readyNode } from '../../support/volume-input.ts';
import {
  attached,
  away,
  BOUND,
  block,
  blockNode,
  type Case,
  file,
  foreign,
  intended,
  MOUNT,
  movedFiles,
  otherIntent,
  otherUsers,
  ours,
  POD,
  POD_DIRECTORY,
  readOnly,
  renamed,
  run,
  shared,
  table,
} from './plan-cases.ts';

/** Uses of a device that prevent a detach. */
const inUse: Case[] = [
  [
    'a mounted device',
    { ...readyNode, mounts: new Map([['7:3', ['/a', '/b']]]) },
    /^retryable: \/dev\/loop3 is in use: mounted at \/a, \/b$/,
  ],
  [
    'a stacked loop',
    { ...readyNode, loops: [loop, { ...loop, name: 'loop4', backingFile: '/dev/loop3' }] },
    /^retryable: .* held by \/dev\/loop4$/,
  ],
  [
    'a device whose detach is pending',
    attached({ autoclear: true }),
    /^retryable: .*a process has it open$/,
  ],
  [
    'a device that a pod uses',
    { ...readyNode, kubeletFolders: [MOUNT, POD_DIRECTORY] },
    new RegExp(
      `^retryable: /dev/loop3 is in use: the kubelet has ${POD_DIRECTORY} for the pod with the UID ${POD}$`,
    ),
  ],
  [
    'a device with a mount point of the kubelet',
    { ...readyNode, kubeletFolders: [MOUNT] },
    new RegExp(`^retryable: /dev/loop3 is in use: the kubelet has ${MOUNT}$`),
  ],
  [
    'a device that the kubelet bound',
    blockNode({ kubeletFolders: [BOUND] }),
    new RegExp(`^retryable: .* the kubelet has ${BOUND} for the pod with the UID ${POD}$`),
    block,
  ],
];

const removed: ObservedSparse = {
  ...attached({ backingFile: `${FILE} (deleted)` }),
  file: { type: 'missing' },
};
const LAST = /^\/dev\/loop3 has an earlier file .* was removed or replaced/;
table('detach', [
  ['nothing', freshNode, []],
  ['a file that is not attached', madeNode, []],
  ['a device', readyNode, run('detach')],
  ['a device of a removed file', removed, LAST],
  ['a device of a replaced file', attached({ backingInode: '41' }), LAST],
  [
    'a device of a removed file that is in use',
    { ...removed, mounts: new Map([['7:3', ['/a']]]) },
    /mounted/,
  ],
  [
    'a device of a removed file whose data is being deleted',
    removed,
    run('detach'),
    { discarded: true },
  ],
  [
    'a device of a replaced file whose data is being deleted',
    attached({ backingInode: '41' }),
    run('detach'),
    { discarded: true },
  ],
  [
    'a device of a removed shared file whose data is being deleted',
    { ...removed, shared: QUIET },
    run('detach'),
    { ...shared, discarded: true },
  ],
  ['a device of a removed shared file', { ...removed, shared: QUIET }, LAST, shared],
  [
    'several devices',
    { ...readyNode, loops: [loop, { ...loop, name: 'loop4', device: '7:4' }] },
    ['losetup -d /dev/loop3', 'losetup -d /dev/loop4'],
  ],
  [
    'devices and mounts of other files',
    { ...readyNode, loops: [{ ...loop, backingFile: '/x' }], mounts: new Map([['7:3', ['/a']]]) },
    [],
  ],
  [
    'directories of the kubelet, and no device',
    { ...madeNode, kubeletFolders: [POD_DIRECTORY] },
    [],
  ],
  ['a read-only device', attached({ readOnly: true }), run('detach'), readOnly],
  [
    'a device of a shared file',
    { ...readyNode, shared: QUIET },
    [`sync /dev/loop3 ${FILE}`, ...run('detach')],
    shared,
  ],
  [
    'a partition of a shared file',
    { ...blockNode(), shared: QUIET },
    [`sync /dev/loop3p1 /dev/loop3 ${FILE}`, ...run('detach')],
    { ...shared, ...block },
  ],
  [
    'a shared file, which was only read',
    { ...attached({ readOnly: true }), shared: QUIET },
    run('detach'),
    { ...shared, readOnly: true },
  ],
  ...inUse,
  ...movedFiles,
  ...otherUsers.map(([what, observed]): Case => [what, observed, []]),
]);

const NOT_MOUNTED =
  /^retryable: the file system of \/var\/lib\/metalk8s\/storage\/sparse is not mounted: /;
const gone = { ...madeNode, file: { type: 'missing' } } as const;

table('delete', [
  ['nothing', freshNode, []],
  ['a file in a directory that is not mounted', away(gone), NOT_MOUNTED],
  [
    'a recorded volume in a directory that is not mounted',
    away(freshNode),
    NOT_MOUNTED,
    { recorded: true },
  ],
  [
    'a retained volume in a directory that is not mounted',
    away(gone),
    NOT_MOUNTED,
    { onDelete: 'Retain' },
  ],
  ['an intent in a directory that is not mounted', away(intended), NOT_MOUNTED],
  ['a volume never provisioned in a directory that is not mounted', away(freshNode), []],
  ['a file in a directory that is on another file system', away(madeNode), run('remove', 'forget')],
  [
    'a file that is gone in a directory without a record',
    { ...gone, directory: { ...gone.directory, recorded: undefined } },
    run('forget'),
  ],
  ['a recorded volume of which nothing is left', freshNode, [], { recorded: true }],
  ['an incomplete intent', { ...freshNode, recordFiles: true }, run('forget')],
  ['an intent', intended, run('forget')],
  ['a partial file', { ...intended, partial: file }, run('removePartial', 'forget')],
  ['a renamed file', renamed, run('remove', 'forget')],
  ['a provisioned file', madeNode, run('remove', 'forget')],
  ['a device', readyNode, run('detach', 'remove', 'forget')],
  [
    'a volume without a record on the node',
    { ...freshNode, file, signature: ours },
    run('remove'),
    { recorded: true },
  ],
  ['a file that is gone', removed, run('detach', 'forget'), { recorded: true }],
  [
    'a file that is gone, of a retained volume',
    removed,
    LAST,
    { recorded: true, onDelete: 'Retain' },
  ],
  [
    'a file that is gone, of a volume to be wiped',
    removed,
    LAST,
    { recorded: true, onDelete: 'Wipe' },
  ],
  [
    'a done record without an intent',
    { ...freshNode, done: { sizeBytes: 1n << 30n }, recordFiles: true },
    run('forget'),
  ],
  ['a file that Stowage did not create', foreign, []],
  ['a partial file that Stowage did not create', { ...freshNode, partial: file }, []],
  ['an intent of another Volume', { ...intended, file, ...otherIntent({ uid: 'x' }) }, []],
  [
    'an intent for another file',
    {
      ...intended,
      file,
      ...otherIntent({ file: '/x' }),
    },
    [],
  ],
  ...inUse,
]);

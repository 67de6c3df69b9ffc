import type { Intent } from '../../../src/storage/types.ts';
import { directory, FILE, freshNode, loop, madeNode, UID } from '../../support/volume-input.ts';
import {
  attached,
  away,
  file,
  foreign,
  intended,
  onDemand,
  otherIntent,
  ours,
  readOnly,
  renamed,
  run,
  table,
} from './plan-cases.ts';

const NOT_MOUNTED =
  /^retryable: the file system of \/var\/lib\/metalk8s\/storage\/sparse is not mounted: /;
const unrecorded = { ...freshNode, directory: { ...directory, recorded: undefined } };
const ownMount = { ...freshNode, directory: { ...directory, isRoot: false } };

table('provision', [
  ['a fresh node', freshNode, run('mkdir', 'intent', 'make', 'done', 'attach')],
  [
    'a directory without a record',
    unrecorded,
    run('record', 'mkdir', 'intent', 'make', 'done', 'attach'),
  ],
  ['a directory that is not mounted', away(freshNode), NOT_MOUNTED],
  ['an intent in a directory that is not mounted', away(intended), NOT_MOUNTED],
  [
    'a renamed file in a directory on another file system',
    away(renamed),
    run('syncRenamed', 'done', 'attach'),
  ],
  [
    'a done volume in a directory that is not mounted',
    away({ ...madeNode, file: { type: 'missing' } }),
    NOT_MOUNTED,
  ],
  [
    'a recorded volume in a directory that is not mounted',
    away(freshNode),
    NOT_MOUNTED,
    { recorded: true },
  ],
  ['an existing volume in a directory on another file system', away(madeNode), run('attach')],
  [
    'a directory on the root file system, despite requireMount',
    unrecorded,
    /^retryable: .* is on the root file system, and requireMount is set$/,
    { requireMount: true },
  ],
  [
    'a mounted directory with requireMount',
    ownMount,
    run('mkdir', 'intent', 'make', 'done', 'attach'),
    { requireMount: true },
  ],
  [
    'an existing volume on the root file system, despite requireMount',
    madeNode,
    run('attach'),
    { requireMount: true },
  ],
  [
    'an incomplete intent',
    { ...freshNode, recordFiles: true },
    run('mkdir', 'intent', 'make', 'done', 'attach'),
  ],
  ['an intent', intended, run('mkdir', 'make', 'done', 'attach')],
  ['a partial file', { ...intended, partial: file }, run('mkdir', 'make', 'done', 'attach')],
  [
    'a claim that had a volume here before',
    { ...freshNode, earlier: ['0b1d.intent', '0b1d.done'] },
    /a Volume pvc-.* with the UID 0b1d was provisioned on this node before: its data may be in \/var/,
    { name: `pvc-${UID}`, once: true },
  ],
  [
    'a claim whose volume has an intent',
    {
      ...intended,
      intent: { version: 1, uid: UID, once: 'data1', ...intended.intent } as Intent,
      earlier: [],
    },
    run('mkdir', 'make', 'done', 'attach'),
    { once: true },
  ],
  ['a renamed file', renamed, run('syncRenamed', 'done', 'attach')],
  [
    'a volume without a record on the node',
    { ...freshNode, file, signature: ours },
    run('attach'),
    { recorded: true },
  ],
  [
    'a done volume whose file is gone',
    { ...madeNode, file: { type: 'missing' } },
    /was created before and is missing now/,
  ],
  [
    'a recorded volume whose file is gone',
    freshNode,
    /was created before and is missing now/,
    { recorded: true },
  ],
  [
    'a file that Stowage did not create',
    foreign,
    /already exists, and nothing on the node shows that Stowage created it/,
  ],
  [
    'a partial file that Stowage did not create',
    { ...freshNode, partial: file },
    /\.partial already exists/,
  ],
  ['a directory with the file’s name', { ...freshNode, file: { type: 'other' } }, /already exists/],
  [
    'an intent for another file',
    { ...intended, ...otherIntent({ file: '/x' }) },
    /the node's record for this Volume has \/x, not /,
  ],
  [
    'an intent of another Volume',
    { ...intended, ...otherIntent({ uid: 'x' }) },
    /the node's record for this Volume/,
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
  [
    'a fresh node and an on-demand volume',
    freshNode,
    run('mkdir', 'intent', 'make', 'done'),
    onDemand,
  ],
  ['a provisioned on-demand volume', { ...madeNode, udev: false }, [], onDemand],
  ['an attached on-demand volume', attached({ backingInode: '41' }), [], onDemand],
  [
    'a missing file of an on-demand volume',
    freshNode,
    /is missing now/,
    { ...onDemand, recorded: true },
  ],
  [
    'a fresh node and a read-only volume',
    freshNode,
    run('mkdir', 'intent', 'make', 'done', 'attachReadOnly'),
    { ...readOnly, onDemand: false },
  ],
]);

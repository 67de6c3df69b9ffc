import { expect, test } from '@jest/globals';
import { directoryRecord } from '../../../src/storage/directory/directory-record.ts';
import { plan } from '../../../src/storage/plan.ts';
import { DIRECTORIES, directoryPartial } from '../../../src/storage/records.ts';
import type {
  BlockDevice,
  DesiredSparse,
  Intent,
  LoopFacts,
  ObservedSparse,
  VolumeOperation,
} from '../../../src/storage/types.ts';
import {
  BY_PARTUUID,
  BY_UUID,
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
  FILE,
  freshNode,
  loop,
  loopRow,
  madeNode,
  readyNode,
  sparseDesired,
  UID,
  unmounted,
} from '../../support/volume-input.ts';

/** Volumes of type sparse and observations of their node, and tables of their plans. */

export const desired: DesiredSparse = {
  ...sparseDesired,
  fs: { type: 'ext4', options: ['-m', '0'] },
};
/** Variants of the Volume. */
export const onDemand = { onDemand: true };
export const readOnly = { onDemand: true, readOnly: true };
export const shared = { onDemand: true, shared: true, owner: { node: 'n1', token: 't1' } };
export const block = { mode: 'Block', fs: undefined } as const;
const FOLDER = '/var/lib/metalk8s/storage/sparse';
const DIRECTORY_RECORD = directoryRecord(FOLDER);
const RECORDS = '/var/lib/stowage/volumes';

export const file = { type: 'file', sizeBytes: 1n << 30n, inode: '42' } as const;
export const ours = { found: 'one', type: 'ext4', uuid: UID } as const;
/** The intent is written, but nothing else. */
export const intended: ObservedSparse = {
  ...freshNode,
  intent: madeNode.intent,
  recordFiles: true,
};
/** The file has its final name, but done is not written. */
export const renamed: ObservedSparse = { ...madeNode, done: undefined };
/** A file that belongs to no Volume. */
export const foreign: ObservedSparse = {
  ...freshNode,
  file,
  signature: { found: 'one', type: 'xfs', uuid: 'x' },
};

export const attached = (
  facts: Partial<LoopFacts>,
  more: Partial<ObservedSparse> = {},
): ObservedSparse => ({
  ...readyNode,
  loops: [{ ...loop, ...facts }],
  ...more,
});

const WHOLE = 'ENV{DEVTYPE}=="disk"';
const FIRST_PART = 'ENV{PARTN}=="1"';
export const ofFile = (path: string): string => `ATTRS{loop/backing_file}=="${path}"`;
/** Commands that write the rule for the persistent path. */
export const RULES = {
  Filesystem: ruleFor(`${WHOLE},${ofFile(FILE)}`),
  Block: ruleFor(`${FIRST_PART},${ofFile(FILE)}`, LINK, LAST),
  earlierFilesystem: ruleFor(`${WHOLE},${ofFile(FILE)}`, BY_UUID, FIRST),
  earlierBlock: ruleFor(`${FIRST_PART},${ofFile(FILE)}`, BY_PARTUUID, OF_KUBELET),
};
const recordFiles = ['done', 'intent', 'wiped'].map((name) => `${RECORDS}/${UID}.${name}`);
/** Commands of each part of a plan. */
const PARTS = {
  record: [
    `install -d -m 0700 /var/lib/stowage ${DIRECTORIES}`,
    `dd of=${directoryPartial(UID)} conv=fsync status=none`,
    `mv -n -T ${directoryPartial(UID)} ${DIRECTORY_RECORD}`,
    `sync ${DIRECTORIES} /var/lib/stowage /var/lib`,
  ],
  mkdir: [`mkdir -p -m 0700 -- ${FOLDER}`],
  intent: [
    'install -d -m 0700 /var/lib/stowage /var/lib/stowage/volumes',
    `dd of=${RECORDS}/${UID}.intent.new conv=fsync status=none`,
    `mv -T ${RECORDS}/${UID}.intent.new ${RECORDS}/${UID}.intent`,
    `sync ${RECORDS} /var/lib/stowage /var/lib`,
  ],
  make: [
    `rm -f -- ${FILE}.partial`,
    `truncate -s 1073741824 -- ${FILE}.partial`,
    `mkfs.ext4 -q -F -m 0 -U ${UID} ${FILE}.partial`,
    `sync ${FILE}.partial`,
    `mv -T -- ${FILE}.partial ${FILE}`,
    `sync ${FOLDER}`,
  ],
  syncRenamed: [`sync ${FILE} ${FOLDER}`],
  done: [
    `dd of=${RECORDS}/${UID}.done.new conv=fsync status=none`,
    `mv -T ${RECORDS}/${UID}.done.new ${RECORDS}/${UID}.done`,
    `sync ${RECORDS}`,
  ],
  attach: [...RULES.Filesystem, `losetup /dev/loop5 ${FILE}`, settle()],
  /** The path exists, but leads to another device. */
  attachAstray: [...RULES.Filesystem, `losetup /dev/loop5 ${FILE}`, SETTLE],
  attachReadOnly: [...RULES.Filesystem, `losetup -r /dev/loop5 ${FILE}`, settle()],
  rule: RULES.Filesystem,
  lookAgain: [triggerUdev('loop3'), SETTLE],
  trigger: [triggerUdev('loop3'), settle()],
  detach: ['losetup -d /dev/loop3'],
  forget: [
    `rm -f ${recordFiles.flatMap((path) => [path, `${path}.new`]).join(' ')} ${RECORDS}/${UID}.cancel ${directoryPartial(UID)} /run/udev/rules.d/61-stowage-${UID}.rules`,
    `sync ${RECORDS}`,
  ],
  remove: [`rm -f -- ${FILE}`, `sync ${FOLDER}`],
  removePartial: [`rm -f -- ${FILE}.partial`, `sync ${FOLDER}`],
};
export const run = (...parts: (keyof typeof PARTS)[]): string[] =>
  parts.flatMap((part) => PARTS[part]);
const KUBELET = '/var/lib/kubelet';
export const POD = '7c0a6d8e-5c0c-4a5b-8d0e-0c8e4bb3b1a1';
export const MOUNT = `${KUBELET}/plugins/kubernetes.io/local-volume/mounts/data1`;
export const POD_DIRECTORY = `${KUBELET}/pods/${POD}/volumes/kubernetes.io~local-volume/data1`;
export const BOUND = `${KUBELET}/plugins/kubernetes.io~local-volume/volumeDevices/data1/${POD}`;
/** A Block volume: the loop device, its partition, and a table in the file. */
const part: BlockDevice = {
  ...loopRow,
  name: 'loop3p1',
  device: '259:1',
  parent: 'loop3',
  type: 'part',
};
export const blockNode = (more: Partial<ObservedSparse> = {}): ObservedSparse => ({
  ...readyNode,
  signature: { found: 'one', type: 'gpt', uuid: UID },
  devices: [loopRow, part],
  link: '259:1',
  ...more,
});
/** Returns the intent of this Volume with other fields. */
export const otherIntent = (fields: object): Partial<ObservedSparse> => ({
  intent: { ...madeNode.intent, ...fields } as Intent,
});

function commands(
  operation: VolumeOperation,
  wanted: DesiredSparse,
  observed: ObservedSparse,
): string[] | string {
  const made = plan(operation, wanted, observed, 5);
  if ('steps' in made) return made.steps.map(({ argv }) => argv.join(' '));
  return `${made.retryable ? 'retryable: ' : ''}${made.refusal}`;
}

export type Case = [
  name: string,
  observed: ObservedSparse,
  outcome: string[] | RegExp,
  wanted?: Partial<DesiredSparse>,
];

export function table(operation: VolumeOperation, cases: Case[]): void {
  test.each(cases)(`${operation}: %s`, (_, observed, outcome, wanted = {}) => {
    const made = commands(operation, { ...desired, ...wanted }, observed);
    if (outcome instanceof RegExp) expect(made).toMatch(outcome);
    else expect(made).toEqual(outcome);
  });
}

const MOVED = /^retryable: \/dev\/loop3, to which the persistent path leads, has .*, not /;
/** Devices of the Volume's former file, under another path. */
export const movedFiles: Case[] = [
  [
    'a device of a file removed by an NFS client',
    attached({ backingFile: `${FOLDER}/.nfs0000000000a2` }),
    MOVED,
  ],
  ['a device of a file in an unmounted directory', attached({ backingFile: `/${UID}` }), MOVED],
  [
    'a device of a file in a moved directory',
    attached({ backingFile: `/old/${UID} (deleted)` }),
    MOVED,
  ],
  [
    'a device of a file that its udev rule no longer matches',
    attached({ backingFile: `/${UID}` }, { link: undefined, contentLink: loop.device }),
    MOVED,
  ],
  [
    'a device of a moved file with a partition',
    { ...blockNode({ loops: [{ ...loop, backingFile: `/${UID}` }] }), link: '259:1' },
    MOVED,
    block,
  ],
];

/** Returns the observation with a directory that is not on the recorded file system. */
export const away = (observed: ObservedSparse): ObservedSparse => ({
  ...observed,
  directory: unmounted,
});

/** Devices that temporarily use the path and are not the Volume's: they are read, or unfinished. */
export const otherUsers: [string, ObservedSparse][] = [
  [
    'a snapshot that is attached',
    attached({ backingFile: `${FOLDER}/snapshots/5a1c2b1f-7a54-4f0a-9c53-2f2d8f0b7e11` }),
  ],
  [
    'an unfinished copy that is attached',
    attached({ backingFile: `${FOLDER}/${UID.replace('6', '7')}.partial` }),
  ],
  [
    'an attached device that the path does not lead to',
    attached({ backingFile: `/${UID}` }, { link: undefined }),
  ],
];

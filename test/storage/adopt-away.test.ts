import { describe, expect, test } from '@jest/globals';
import type { ReasonCode } from '../../src/api/reasons.ts';
import { tagOf } from '../../src/storage/lvm/names.ts';
import { plan } from '../../src/storage/plan.ts';
import type { Desired, Observed } from '../../src/storage/registry.ts';
import type { DeviceFacts, ObservedSparse } from '../../src/storage/types.ts';
import { lv, lvmDesired, lvmNode } from '../support/lvm-input.ts';
import { disk, intentFor, rawDesired, rawNode } from '../support/raw-input.ts';
import { freshNode, sparseDesired, UID, unmounted } from '../support/volume-input.ts';
import { carrying } from './block/provision-cases.ts';

/** Deletion of a Volume whose adoption is unfinished, while its storage may be absent. */

const OLD = '11111111-2222-4333-8444-555555555555';
const adopt = { adopt: OLD, onDelete: 'Delete' } as const;
const FOLDER = '/var/lib/metalk8s/storage/sparse';

const fileIntent = {
  ...intentFor(disk, { adopt: OLD }),
  device: undefined as never,
  file: sparseDesired.file,
};
const file = { type: 'file', sizeBytes: 1n << 30n, inode: '77' } as const;
const nobody = { owners: [], marks: [], unfinished: [] };
const files = (more: Partial<ObservedSparse> = {}, earlier?: typeof file): ObservedSparse => ({
  ...freshNode,
  intent: fileIntent,
  recordFiles: true,
  directory: { ...freshNode.directory, recorded: undefined },
  earlierFile: {
    realPath: `${FOLDER}/${OLD}`,
    file: earlier ?? { type: 'missing' },
    signature: earlier ? { found: 'one', type: 'ext4', uuid: OLD } : { found: 'none' },
    beside: nobody,
  },
  ...more,
});

const ofUid = (uid: string): DeviceFacts => ({
  ...carrying(`ext4:${uid}`),
  uuids: [uid],
  isBlank: false,
});
const intent = intentFor(ofUid(OLD), { adopt: OLD });
const known = {
  ...intent,
  device: { path: '/dev/sdb', identity: 'wwn=0x5000c500a1b2c3d4 size=1' },
};
const weak = { ...intent, device: { path: '/dev/sdb', identity: 'size=1' } };
const disks = (facts: DeviceFacts, more: object = {}) =>
  rawNode(facts, { intent, recordFiles: true, ...more });

const own = { ...lv, name: 'old1', tags: [tagOf(OLD)] };
const groups = (more: object) => lvmNode({ intent, recordFiles: true, free: [], ...more });

const [sparse, raw, lvm]: Desired[] = [
  { ...sparseDesired, ...adopt },
  { ...rawDesired, ...adopt },
  { ...lvmDesired, ...adopt },
];

describe('deletion of a partly adopted Volume', () => {
  test.each<[string, Desired | undefined, Observed, RegExp, ReasonCode?]>([
    [
      'if its file is missing',
      sparse,
      files(),
      new RegExp(`none of the files ${FOLDER}/${OLD}, .*${UID}.partial exists`),
    ],
    [
      'if the directory is not mounted',
      sparse,
      files({ directory: unmounted }),
      /is not mounted/,
      'DirectoryNotMounted',
    ],
    [
      'if the directory is not mounted and has such a file',
      sparse,
      files({ directory: unmounted, partial: file }),
      /is not mounted/,
      'DirectoryNotMounted',
    ],
    [
      'if the disk is missing',
      raw,
      disks(disk, { target: { is: 'missing' } }),
      /there is no device/,
      'DeviceMissing',
    ],
    [
      'if the path leads to no disk',
      raw,
      disks(disk, { target: { is: 'other', what: 'x' } }),
      / is a x, not a disk/,
      'NoBlockDevice',
    ],
    [
      'if the disk was exchanged',
      raw,
      disks(ofUid(OLD), { intent: known }),
      /is now \/dev\/sdb/,
      'AdoptedDeviceExchanged',
    ],
    [
      'if the disk may have been exchanged',
      raw,
      disks(disk, { intent: weak }),
      /is now \/dev\/sdb/,
      'AdoptedDeviceExchanged',
    ],
    [
      'if the disk is in use',
      raw,
      disks(ofUid(UID), { mounts: new Map([[disk.device, ['/a']]]) }),
      /is in use: mounted at \/a$/,
      'UseHoldsPutBack',
    ],
    [
      'if the volume group is missing',
      lvm,
      groups({ groups: [] }),
      /there is no volume group vg0/,
      'VolumeGroupMissing',
    ],
  ])('is refused and retried %s', (_, desired = sparse as Desired, observed, why, code) => {
    expect(plan('delete', desired, observed, 0)).toMatchObject({
      ...(code && { reason: { code } }),
      refusal: expect.stringMatching(why),
      hint: expect.stringMatching(/rm |gets its earlier UID back/),
      retryable: true,
    });
  });
});

test('a refused deletion of a partly adopted Volume hints at --forget-node', () => {
  expect(plan('delete', sparse as Desired, files(), 0)).toMatchObject({
    hint: expect.stringMatching(
      new RegExp(
        `rm /var/lib/stowage/volumes/${UID}.intent. .*stowage delete volume data1 --forget-node$`,
      ),
    ),
  });
});

test('a deletion is refused while several logical volumes have the adopted tag', () => {
  const two = groups({ volumes: [own, { ...own, name: 'x', uuid: 'y' }] });
  expect(plan('delete', lvm as Desired, two, 0)).toMatchObject({
    refusal: expect.stringMatching(/several/),
  });
});

describe('the records of a partly adopted Volume', () => {
  test.each<[string, Desired | undefined, Observed]>([
    ['if the file still has its earlier name', sparse, files({}, file)],
    ['if the file was removed', sparse, files({ directory: freshNode.directory })],
    ['if the disk still has its earlier UUID', raw, disks(ofUid(OLD))],
    [
      'if a disk without identifiers still has its earlier UUID',
      raw,
      disks(ofUid(OLD), { intent: weak }),
    ],
    ['if the disk was overwritten', raw, disks(disk)],
    ['if the logical volume was removed', lvm, groups({ volumes: [] })],
  ])('are all that a deletion removes %s', (_, desired = sparse as Desired, observed) => {
    const made = plan('delete', desired, observed, 0);
    const steps = 'steps' in made ? made.steps : [];
    expect(steps).not.toEqual([]);
    const words = steps.flatMap(({ argv }) => argv.filter((word) => word.startsWith('/')));
    expect(words.filter((word) => !/^\/(var\/lib\/stowage|run\/udev)\//.test(word))).toEqual([]);
  });
});

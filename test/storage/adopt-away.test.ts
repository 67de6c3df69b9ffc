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
      'where no file is there',
      sparse,
      files(),
      new RegExp(`none of the files ${FOLDER}/${OLD}, .*${UID}.partial exists`),
    ],
    [
      'where the directory is away',
      sparse,
      files({ directory: unmounted }),
      /is not mounted/,
      'DirectoryNotMounted',
    ],
    [
      'where the directory is away, and a file of the name is there',
      sparse,
      files({ directory: unmounted, partial: file }),
      /is not mounted/,
      'DirectoryNotMounted',
    ],
    [
      'where the disk is gone',
      raw,
      disks(disk, { target: { is: 'missing' } }),
      /there is no device/,
      'DeviceMissing',
    ],
    [
      'where the path is none of a disk',
      raw,
      disks(disk, { target: { is: 'other', what: 'x' } }),
      / is a x, not a disk/,
      'NoBlockDevice',
    ],
    [
      'where the disk is another',
      raw,
      disks(ofUid(OLD), { intent: known }),
      /is now \/dev\/sdb/,
      'AdoptedDeviceExchanged',
    ],
    [
      'where the disk may be another',
      raw,
      disks(disk, { intent: weak }),
      /is now \/dev\/sdb/,
      'AdoptedDeviceExchanged',
    ],
    [
      'where the disk is in use',
      raw,
      disks(ofUid(UID), { mounts: new Map([[disk.device, ['/a']]]) }),
      /is in use: mounted at \/a$/,
      'UseHoldsPutBack',
    ],
    [
      'where the group is gone',
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
    ['where the file has its name yet', sparse, files({}, file)],
    ['where the file was removed', sparse, files({ directory: freshNode.directory })],
    ['where the disk has its UUID yet', raw, disks(ofUid(OLD))],
    ['where a disk that tells nothing has its UUID yet', raw, disks(ofUid(OLD), { intent: weak })],
    ['where the disk was overwritten', raw, disks(disk)],
    ['where the logical volume was removed', lvm, groups({ volumes: [] })],
  ])('are all that a deletion removes %s', (_, desired = sparse as Desired, observed) => {
    const made = plan('delete', desired, observed, 0);
    const steps = 'steps' in made ? made.steps : [];
    expect(steps).not.toEqual([]);
    const words = steps.flatMap(({ argv }) => argv.filter((word) => word.startsWith('/')));
    expect(words.filter((word) => !/^\/(var\/lib\/stowage|run\/udev)\//.test(word))).toEqual([]);
  });
});

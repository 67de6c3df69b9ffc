import { describe, expect, test } from '@jest/globals';
import type { ReasonCode } from '../../src/api/reasons.ts';
import { snapshotLvName } from '../../src/api/snapshot-handle.ts';
import type { Precondition } from '../../src/nodes/job.ts';
import { sparseProbes } from '../../src/storage/loopfile/observe.ts';
import { tagOf, unfinishedTag } from '../../src/storage/lvm/names.ts';
import { onlyDisks } from '../../src/storage/lvm/view.ts';
import { plan } from '../../src/storage/plan.ts';
import { scriptArgv } from '../../src/storage/scripts/scripts.ts';
import { readText, textOf } from '../../src/storage/shared-fs/text.ts';
import type { Beside } from '../../src/storage/shared-fs/types.ts';
import type {
  DesiredLvm,
  DesiredRaw,
  DesiredSparse,
  DeviceFacts,
  ObservedLvm,
  ObservedRaw,
  ObservedSparse,
} from '../../src/storage/types.ts';
import { dm, group, lv, lvmDesired, lvmNode, pool } from '../support/lvm-input.ts';
import { otherScript } from '../support/other-script.ts';
import {
  disk,
  intentFor,
  logical,
  partition,
  rawBlock,
  rawDesired,
  rawNode,
} from '../support/raw-input.ts';
import { commandsOf, may } from '../support/sudoers.ts';
import { freshNode, loop, sparseDesired, UID, unmounted } from '../support/volume-input.ts';
import { carrying } from './block/provision-cases.ts';

/** Storage that no Volume can adopt, and the commands that a node must allow for adoptions. */

const OLD = '11111111-2222-4333-8444-555555555555';
const OTHER = '99999999-2222-4333-8444-555555555555';
const adopt = { adopt: OLD, onDelete: 'Retain' } as const;

function preconditionsOf(made: ReturnType<typeof plan>, program: RegExp): readonly Precondition[] {
  const steps = 'steps' in made ? made.steps : [];
  return steps.find(({ argv }) => program.test(argv.join(' ')))?.preconditions ?? [];
}

describe('adoption of a disk', () => {
  const wanted: DesiredRaw = { ...rawDesired, ...adopt };
  const block: DesiredRaw = { ...rawBlock, ...adopt };
  const ext4: DeviceFacts = { ...carrying(`ext4:${OLD}`), uuids: [OLD], isBlank: false };
  const gpt: DeviceFacts = {
    ...carrying(`gpt:${OTHER};1=ext4:${OTHER}`),
    partitionUuids: [OLD],
    isBlank: false,
  };
  const [part = disk] = gpt.partitions;

  test.each<[string, DesiredRaw, DeviceFacts]>([
    ['with a file system', wanted, ext4],
    ['with a MetalK8s partition table', block, gpt],
    [
      'a partition',
      block,
      {
        ...partition,
        partition: { number: 2, inTable: 2, scheme: 'gpt', uuid: OLD },
        isBlank: false,
      },
    ],
    [
      'a logical volume as a device',
      wanted,
      { ...logical, ...carrying(`ext4:${OLD}`, logical), isBlank: false },
    ],
    ['with a file system, recorded for the earlier Volume', wanted, ext4],
  ])('%s: uses only commands that sudoers allows, and creates no content', (_, desired, facts) => {
    const others = [intentFor(facts, { uid: OLD }), { uid: OLD, name: 'old1' }];
    const made = plan('provision', desired, rawNode(facts, { others }), 0);
    expect(made).toMatchObject({ steps: expect.anything() });
    const steps = 'steps' in made ? made.steps : [];
    expect(commandsOf(steps).filter((argv) => !may(argv))).toEqual([]);
    // Nothing is created or wiped.
    expect(
      steps.map(({ argv }) => argv[0]).filter((name) => /^(mkfs|wipefs|dd$)/.test(name ?? '')),
    ).toEqual(['dd', 'dd']);
  });

  test('verifies the device right before the write, under a lock', () => {
    const made = plan('provision', wanted, rawNode(ext4), 0);
    const refusals = preconditionsOf(made, /^sh -c .*stowage-adopt/).map(({ refusal }) => refusal);
    expect(refusals).toEqual(
      expect.arrayContaining([
        'the storage of data1 was adopted meanwhile',
        '/dev/sdb is no longer the observed device',
        'the content of /dev/sdb changed after it was observed',
        '/dev/sdb is in use: it is mounted',
        '/dev/sdb is in use: it is open exclusively',
      ]),
    );
    const steps = 'steps' in made ? made.steps : [];
    expect(steps.find(({ argv }) => argv.includes('stowage-adopt'))).toMatchObject({
      lock: '/dev/sdb',
    });
    expect(preconditionsOf(made, /^true$/).map(({ refusal }) => refusal)).toContain(
      '/dev/sdb is in use: a process has it open',
    );
  });

  const rows: [string, DesiredRaw, DeviceFacts, Partial<ObservedRaw>, RegExp, ReasonCode][] = [
    [
      'without content',
      wanted,
      disk,
      {},
      /contains nothing, not what Stowage created/,
      'AdoptedContentDiffers',
    ],
    [
      'with the file system of another Volume',
      wanted,
      carrying(`ext4:${OTHER}`),
      {},
      /contains ext4:9999/,
      'AdoptedContentDiffers',
    ],
    [
      'with another type of file system',
      wanted,
      carrying(`btrfs:${OLD}`),
      {},
      /contains btrfs/,
      'AdoptedContentDiffers',
    ],
    [
      'with more than one signature',
      wanted,
      carrying(`ambivalent:${OLD}`),
      {},
      /contains ambivalent/,
      'AdoptedContentDiffers',
    ],
    [
      'with the UUID of the new Volume, without a record',
      wanted,
      carrying(`ext4:${UID}`),
      {},
      /contains ext4:6e1c/,
      'AdoptedContentDiffers',
    ],
    [
      'created in mode Block',
      wanted,
      gpt,
      {},
      /belongs to a Volume of mode Block, not Filesystem$/,
      'AdoptedModeDiffers',
    ],
    [
      'created in mode Filesystem',
      block,
      ext4,
      {},
      /belongs to a Volume of mode Filesystem, not Block$/,
      'AdoptedModeDiffers',
    ],
    [
      'with several partitions',
      block,
      { ...gpt, partitionUuids: [OLD, OTHER] },
      {},
      /has 2 partitions/,
      'AdoptedDiskDivided',
    ],
    [
      'a logical volume of mode Block',
      block,
      logical,
      {},
      /nothing on the logical volume .* shows its owner/,
      'AdoptedVolumeUnmarked',
    ],
    [
      'mounted',
      wanted,
      ext4,
      { mounts: new Map([['8:16', ['/a']]]) },
      /sdb is in use: mounted at \/a$/,
      'DeviceNotFree',
    ],
    [
      'a mounted partition',
      block,
      gpt,
      { devices: [gpt, part], mounts: new Map([['8:17', ['/a']]]) },
      /in use: mounted at \/a$/,
      'DeviceNotFree',
    ],
    [
      'mounted by another path',
      wanted,
      { ...ext4, otherPaths: [{ ...disk, name: 'sdc', device: '8:32' }] },
      { mounts: new Map([['8:32', ['/a']]]) },
      /another path of the disk of \/dev\/sdb, is in use/,
      'DeviceNotFree',
    ],
    ['read-only', wanted, { ...ext4, readOnly: true }, {}, /read-only$/, 'DeviceReadOnly'],
    [
      'recorded for another Volume',
      wanted,
      ext4,
      { others: [intentFor(ext4, { uid: OTHER })] },
      /belongs to another Volume/,
      'DeviceOfAnother',
    ],
    ['missing', wanted, disk, { target: { is: 'missing' } }, /there is no device/, 'DeviceMissing'],
    [
      'recorded for another adoption',
      wanted,
      ext4,
      { intent: intentFor(ext4, { adopt: OTHER }) },
      /not that of adopting the storage with the UID 1111/,
      'AnotherAdoptionRecorded',
    ],
    [
      'recorded as a new Volume',
      wanted,
      ext4,
      { intent: intentFor(ext4) },
      /not that of adopting/,
      'AnotherAdoptionRecorded',
    ],
    [
      'exchanged since its adoption began',
      wanted,
      ext4,
      {
        intent: {
          ...intentFor(ext4, { adopt: OLD }),
          device: { path: '/dev/sdb', identity: 'wwn=0x6000 size=1' },
        },
      },
      /the node's record for this Volume has the device \/dev\/sdb/,
      'RecordOfAnotherDevice',
    ],
  ];
  test.each(rows)('is refused: %s', (_, desired, facts, more, why, code) => {
    expect(plan('provision', desired, rawNode(facts, more), 0)).toMatchObject({
      reason: { code },
      refusal: expect.stringMatching(why),
      hint: expect.stringMatching(/./),
    });
  });
});

const nobody: Beside = { owners: [], marks: [], unfinished: [] };
const BY = { node: 'n9', bootId: '00000000-0000-4000-8000-000000000009', token: 'v1' };
/** Returns an owner file beside a file, as a node wrote it. */
const owner = (number: number, is: 'held' | 'free', text = textOf(is, BY)) => ({
  ...{ number, text },
  state: readText(text),
  since: undefined,
});

describe('adoption of a file', () => {
  const wanted: DesiredSparse = { ...sparseDesired, ...adopt };
  const path = `/var/lib/metalk8s/storage/sparse/${OLD}`;
  const file = { type: 'file', sizeBytes: 1n << 30n, inode: '77' } as const;
  const there = (type: string, uuid = OLD, more: Partial<ObservedSparse> = {}): ObservedSparse => ({
    ...freshNode,
    earlierFile: { realPath: path, file, signature: { found: 'one', type, uuid }, beside: nobody },
    ...more,
  });

  test.each<[string, DesiredSparse, ObservedSparse]>([
    ['with ext4', wanted, there('ext4')],
    ['with xfs', wanted, there('xfs')],
    ['with a partition table', { ...wanted, mode: 'Block' }, there('gpt')],
    ['with a MetalK8s partition table', { ...wanted, mode: 'Block' }, there('gpt', OTHER)],
  ])('%s: uses only commands that sudoers allows', (_, desired, observed) => {
    const made = plan('provision', desired, observed, 5);
    const steps = 'steps' in made ? made.steps : [];
    expect(steps).not.toEqual([]);
    const looks = sparseProbes(desired).map(({ argv }) => argv);
    expect([...looks, ...commandsOf(steps)].filter((argv) => !may(argv))).toEqual([]);
  });

  test('verifies the file right before it is renamed', () => {
    const refusals = preconditionsOf(
      plan('provision', wanted, there('ext4'), 5),
      /^mv -T -- \S+5555 /,
    ).map(({ refusal }) => refusal);
    expect(refusals).toEqual([
      'the storage of data1 was adopted meanwhile',
      `${sparseDesired.file} appeared meanwhile`,
      `${sparseDesired.file}.partial appeared meanwhile`,
      `${path} is no longer the observed file of 1073741824 bytes`,
      `${path} is still attached to a loop device`,
      `${path} is in use: a process has it open for writing`,
      `${path} does not have the UUID ${OLD}`,
      expect.stringMatching(/another node takes/),
      expect.stringMatching(/a node began to read/),
      expect.stringMatching(/sparse is no longer on the file system/),
    ]);
  });

  const rows: [string, DesiredSparse, ObservedSparse, RegExp][] = [
    [
      'missing',
      wanted,
      {
        ...there('ext4'),
        earlierFile: {
          realPath: path,
          file: { type: 'missing' },
          signature: { found: 'none' },
          beside: nobody,
        },
      },
      /there is no file/,
    ],
    [
      'a directory',
      wanted,
      {
        ...there('ext4'),
        earlierFile: {
          realPath: path,
          file: { type: 'other' },
          signature: { found: 'none' },
          beside: nobody,
        },
      },
      /no regular file was found/,
    ],
    [
      'without a file system',
      wanted,
      {
        ...there('ext4'),
        earlierFile: { realPath: path, file, signature: { found: 'none' }, beside: nobody },
      },
      /is not a volume that Stowage created: nothing was found/,
    ],
    [
      'with another file system',
      wanted,
      there('btrfs'),
      /is not a volume that Stowage created: btrfs/,
    ],
    [
      'in a directory with a space in its path',
      { ...wanted, file: `/srv/my data/${UID}` },
      there('ext4'),
      /a file system in \/srv\/my data cannot be adopted: the path has a space/,
    ],
    [
      'with another UUID',
      wanted,
      there('ext4', OTHER),
      /contains the file system 9999.*, not that of/,
    ],
    [
      'created in mode Block',
      wanted,
      there('gpt'),
      /belongs to a Volume of mode Block, not Filesystem/,
    ],
    [
      'a snapshot',
      { ...wanted, file: `/srv/snapshots/${UID}` },
      there('ext4'),
      /^\/srv\/snapshots\/1111\S+ is a snapshot, as its directory shows/,
    ],
    [
      'a snapshot, through a link',
      wanted,
      {
        ...there('ext4'),
        earlierFile: {
          ...{ realPath: `/srv/snapshots/${OLD}`, file, beside: nobody },
          signature: { found: 'one', type: 'ext4', uuid: OLD },
        },
      },
      /is a snapshot, as its directory shows/,
    ],
    [
      'created in mode Filesystem',
      { ...wanted, mode: 'Block' },
      there('ext4'),
      /belongs to a Volume of mode Filesystem, not Block/,
    ],
    [
      'attached',
      wanted,
      there('ext4', OLD, { loops: [{ ...loop, backingFile: path }] }),
      /is in use: it is attached as \/dev\/loop3/,
    ],
    [
      'beside a file with the Volume’s own name',
      wanted,
      there('ext4', OLD, { file }),
      /already exists$/,
    ],
    [
      'beside an unfinished file',
      wanted,
      there('ext4', OLD, { partial: file }),
      /\.partial already exists$/,
    ],
  ];
  test.each(rows)('is refused: %s', (_, desired, observed, why) => {
    expect(plan('provision', desired, observed, 5)).toMatchObject({
      refusal: expect.stringMatching(why),
      hint: expect.stringMatching(/./),
    });
  });

  const intent = { ...intentFor(disk, { adopt: OLD }), file: sparseDesired.file, fsType: 'ext4' };
  const taken: Partial<ObservedSparse> = {
    ...{ intent, partial: file, recordFiles: true },
    earlierFile: {
      ...{
        realPath: path,
        file: { type: 'missing' },
        signature: { found: 'none' },
        beside: nobody,
      },
    },
  };
  const gone = { ...taken, partial: { type: 'missing' } } as const;

  test.each<[string, DesiredSparse, Partial<ObservedSparse>, RegExp]>([
    ['not mounted', wanted, { directory: unmounted }, /is not mounted: its volumes are in/],
    ['not mounted and appears empty', wanted, { ...gone, directory: unmounted }, /is not mounted/],
    [
      'not mounted, after adoption began',
      wanted,
      { ...taken, directory: unmounted },
      /is not mounted/,
    ],
    [
      'on the root file system',
      { ...wanted, requireMount: true },
      {},
      /is on the root file system/,
    ],
    [
      'on the root file system, without a record',
      { ...wanted, requireMount: true },
      { directory: { ...freshNode.directory, recorded: undefined } },
      /is on the root file system/,
    ],
  ])('is retried while its directory is %s', (_, desired, more, why) => {
    expect(plan('provision', desired, there('ext4', OLD, more), 5)).toMatchObject({
      refusal: expect.stringMatching(why),
      retryable: true,
      reason: { code: expect.stringMatching(/^(DirectoryNotMounted|MountRequired)$/) },
    });
  });

  test('is refused in a system directory', () => {
    const etc = { ...freshNode.directory, realPath: '/etc/volumes' };
    expect(plan('provision', wanted, there('ext4', OLD, { directory: etc }), 5)).toMatchObject({
      reason: { code: 'SystemDirectory' },
      refusal: expect.stringMatching(/must not contain volumes/),
    });
  });

  test.each<[string, Partial<ObservedSparse>]>([
    ['is found', {}],
    ['was already renamed', taken],
  ])('records the directory first where the file %s', (_, more) => {
    const directory = { ...freshNode.directory, recorded: undefined };
    const made = plan('provision', wanted, there('ext4', OLD, { ...more, directory }), 5);
    const steps = 'steps' in made ? made.steps : [];
    expect(
      steps
        .slice(0, 4)
        .every(({ argv }) => argv.join(' ').includes('/var/lib/stowage/directories')),
    ).toBe(true);
    for (const program of [/^sh -c .*stowage-adopt/, /^mv -T -- \S+partial /]) {
      expect(preconditionsOf(made, program).map(({ refusal }) => refusal)).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/another file system was recorded/),
          expect.stringMatching(/no longer on the file system/),
        ]),
      );
    }
    expect(commandsOf(steps).filter((argv) => !may(argv))).toEqual([]);
  });

  const beside = (found: Partial<Beside>): ObservedSparse => {
    const observed = there('ext4');
    return {
      ...observed,
      earlierFile: { ...observed.earlierFile, beside: { ...nobody, ...found } } as never,
    };
  };
  const mark = { path: `${path}.reader.n9-v1`, node: 'n9', by: undefined };

  test.each<[string, Partial<Beside>, RegExp]>([
    [
      'held by a node',
      { owners: [owner(3, 'free'), owner(4, 'held')] },
      /5555 is held by node n9$/,
    ],
    [
      'with an unreadable owner',
      { owners: [owner(4, 'free', '{')] },
      /owner\.4 does not show which node has/,
    ],
    ['read by a node', { owners: [owner(4, 'free')], marks: [mark] }, /5555 is read on node n9$/],
  ])('is refused and retried for one %s, also once begun and on deletion', (_, found, why) => {
    const late = beside(found);
    const begun: ObservedSparse = {
      ...late,
      ...taken,
      earlierFile: { ...late.earlierFile, file: { type: 'missing' } } as never,
    };
    const refused = {
      refusal: expect.stringMatching(why),
      hint: expect.stringMatching(/./),
      retryable: true,
    };
    expect(plan('provision', wanted, late, 5)).toMatchObject(refused);
    expect(plan('provision', wanted, begun, 5)).toMatchObject(refused);
    expect(plan('delete', wanted, begun, 5)).toMatchObject(refused);
  });

  test('verifies the owners of a released file before each step, then removes owner files', () => {
    const unfinished = [{ path: `${path}.new.n9-v1`, node: 'n9' }];
    const made = plan(
      'provision',
      wanted,
      beside({ owners: [3, 4].map((n) => owner(n, 'free')), unfinished }),
      5,
    );
    const steps = 'steps' in made ? made.steps : [];
    const since = [
      `${path}.owner.4 changed after it was observed`,
      expect.stringMatching(/another node takes/),
      expect.stringMatching(/a node began to read/),
    ];
    for (const program of [
      /^mv -T -- \S+5555 /,
      /^sh -c .*stowage-adopt/,
      /^mv -T -- \S+partial /,
      /^rm .*owner/,
    ]) {
      expect(preconditionsOf(made, program).map(({ refusal }) => refusal)).toEqual(
        expect.arrayContaining(since),
      );
    }
    const removal = steps.findIndex(
      ({ argv }) => argv[0] === 'rm' && argv.join(' ').includes('.owner.'),
    );
    expect(steps[removal]?.argv.slice(3)).toEqual([
      `${path}.new.n9-v1`,
      `${path}.owner.3`,
      `${path}.owner.4`,
    ]);
    expect(removal).toBeGreaterThan(
      steps.findIndex(({ argv }) => argv.at(-1) === sparseDesired.file),
    );
    expect(removal).toBeLessThan(steps.findIndex(({ argv }) => argv.at(-1)?.endsWith('.done')));
    expect(commandsOf(steps).filter((argv) => !may(argv))).toEqual([]);
  });

  test('is not undone over a file that exists again', () => {
    const intent = {
      version: 1,
      uid: UID,
      file: sparseDesired.file,
      sizeBytes: '1',
      fsType: 'ext4',
      signature: '',
      consent: '',
      adopt: OLD,
    } as const;
    const observed = there('ext4', OLD, { intent, partial: file, recordFiles: true });
    expect(plan('delete', wanted, observed, 0)).toMatchObject({
      refusal: expect.stringMatching(/exists again/),
    });
  });
});

describe('adoption of a logical volume', () => {
  const wanted: DesiredLvm = { ...lvmDesired, ...adopt };
  const block: DesiredLvm = { ...wanted, mode: 'Block', fs: undefined };
  const own = { ...lv, name: 'old1', tags: [tagOf(OLD)] };
  const ext4: DeviceFacts = { ...dm, ...carrying(`ext4:${OLD}`, dm), uuids: [OLD] };
  const there = (facts: DeviceFacts, more: Partial<ObservedLvm> = {}) =>
    lvmNode({
      volumes: [own],
      free: [],
      target: { is: 'device', facts },
      devices: [facts],
      ...more,
    });

  test.each<[string, DesiredLvm, ObservedLvm]>([
    ['with a file system', wanted, there(ext4)],
    ['in mode Block', block, there(dm)],
    ['with its new name', block, there(dm, { volumes: [{ ...own, name: 'data1' }] })],
    [
      'thin',
      { ...wanted, thinPool: 'pool' },
      there(ext4, { volumes: [{ ...own, kind: 'V', pool: 'pool' }, pool] }),
    ],
    ['inactive', wanted, lvmNode({ volumes: [{ ...own, active: false, device: undefined }] })],
  ])('%s: uses only commands that sudoers allows', (_, desired, observed) => {
    const made = plan('provision', desired, observed, 0);
    const steps = 'steps' in made ? made.steps : [];
    expect(steps).not.toEqual([]);
    expect(commandsOf(steps).filter((argv) => !may(argv))).toEqual([]);
  });

  const rows: [string, DesiredLvm, ObservedLvm, RegExp, ReasonCode][] = [
    [
      'without a tag',
      wanted,
      there(ext4, { volumes: [{ ...own, tags: [] }] }),
      /no logical volume of vg0 has the tag stowage.dev\/uid=1111/,
      'AdoptedTagMissing',
    ],
    [
      'unfinished',
      wanted,
      there(ext4, { volumes: [{ ...own, tags: [unfinishedTag(OLD)] }] }),
      /no logical volume of vg0 has the tag/,
      'AdoptedTagMissing',
    ],
    [
      'with its tag on two logical volumes',
      wanted,
      there(ext4, { volumes: [own, { ...own, name: 'x', uuid: 'y' }] }),
      /several logical volumes .*: old1, x$/,
      'AdoptedTagOnSeveral',
    ],
    [
      'also with the tag of another Volume',
      wanted,
      there(ext4, { volumes: [{ ...own, tags: [tagOf(OLD), tagOf(OTHER)] }] }),
      /also has the tag of another Volume, with the UID 9999/,
      'AdoptedTagOfAnother',
    ],
    [
      'a snapshot',
      { ...wanted, thinPool: 'pool' },
      there(ext4, {
        volumes: [{ ...own, name: snapshotLvName(OLD), kind: 'V', pool: 'pool' }, pool],
      }),
      /snap-1111\S+ is a snapshot, as its name shows/,
      'AdoptedIsSnapshot',
    ],
    [
      'a thin pool',
      wanted,
      there(ext4, { volumes: [{ ...own, kind: 't' }] }),
      /cannot hold the data of a Volume: lvs shows it as t/,
      'LogicalVolumeHoldsNoData',
    ],
    [
      'beside a logical volume with the new name',
      wanted,
      there(ext4, { volumes: [own, { ...lv, uuid: 'x', tags: [] }] }),
      /a logical volume vg0\/data1 already exists/,
      'AdoptedNameTaken',
    ],
    [
      'in another thin pool',
      wanted,
      there(ext4, { volumes: [{ ...own, kind: 'V', pool: 'pool' }, pool] }),
      /is in the thin pool pool, but the Volume requests a volume outside a thin pool/,
      'AdoptedInAnotherPool',
    ],
    [
      'outside a thin pool',
      { ...wanted, thinPool: 'pool' },
      there(ext4, { volumes: [own, pool] }),
      /is not thin, but the Volume requests the thin pool pool/,
      'AdoptedIsNotThin',
    ],
    [
      'in a full thin pool',
      { ...wanted, thinPool: 'pool' },
      there(ext4, {
        volumes: [
          { ...own, kind: 'V', pool: 'pool' },
          { ...pool, dataPercent: 100 },
        ],
      }),
      /the thin pool vg0\/pool has 0 bytes left/,
      'ThinPoolFullToAdopt',
    ],
    [
      'with another file system',
      wanted,
      there({ ...dm, ...carrying(`ext4:${OTHER}`, dm) }),
      /contains ext4:9999/,
      'AdoptedContentDiffers',
    ],
    [
      'created in mode Filesystem',
      block,
      there(ext4),
      /belongs to a Volume of mode Filesystem, not Block/,
      'AdoptedModeDiffers',
    ],
    [
      'in use',
      wanted,
      there(ext4, { mounts: new Map([[dm.device, ['/a']]]) }),
      /in use: mounted at \/a/,
      'UseHoldsAdoption',
    ],
    [
      'in a shared volume group',
      wanted,
      there(ext4, { groups: [{ ...group, shared: true }] }),
      /clustered or shared/,
      'VolumeGroupShared',
    ],
    [
      'in a missing volume group',
      wanted,
      there(ext4, { groups: [] }),
      /there is no volume group vg0/,
      'VolumeGroupMissing',
    ],
  ];
  test.each(rows)('is refused: %s', (_, desired, observed, why, code) => {
    expect(plan('provision', desired, observed, 0)).toMatchObject({
      reason: { code },
      refusal: expect.stringMatching(why),
      hint: expect.stringMatching(/./),
    });
  });
});

describe('sudoers for adoptions', () => {
  const ONLY = onlyDisks(['/dev/sda']);
  const adopts = (...words: string[]) => scriptArgv('stowage-adopt', ...words);
  test.each([
    [adopts('/etc/shadow', UID, 'ext4', UID)],
    [adopts('/dev/sdb', UID, 'btrfs', UID)],
    [adopts('/dev/sdb', `${UID} x`, 'ext4', UID)],
    [adopts('/dev/sdb', UID, 'ext4', '../x')],
    [adopts('/dev/../etc/shadow', UID, 'ext4', UID)],
    [adopts(sparseDesired.file, UID, 'ext4', UID)],
    [otherScript('stowage-adopt', 'id', '/dev/sdb', UID, 'ext4', UID)],
    [['mv', '-T', '--', '/etc/shadow', `${sparseDesired.file}.partial`]],
    [['lvrename', 'vg0/a', 'vg0/b']],
    [['lvrename', '--config', ONLY, 'vg0/a', 'vg1/b']],
    [['lvrename', '--config', ONLY, 'vg0/a', 'vg0/b', 'vg0/c']],
    [
      [
        'sgdisk',
        `--partition-guid=1:${UID}`,
        `--disk-guid=${UID}`,
        '--change-name=1:a',
        '/etc/shadow',
      ],
    ],
    [['sgdisk', '--info=1', '/etc/shadow']],
  ])('forbid %j', (argv) => {
    expect(may(argv)).toBe(false);
  });
});

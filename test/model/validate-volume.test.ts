import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../src/api/volume.ts';
import { validateVolume } from '../../src/model/validate-volume.ts';

/** Returns a Volume with spec fields that the type checker would refuse, as the API server may. */
const volume = (spec: object): Volume => ({
  apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
  kind: 'Volume',
  metadata: { name: 'data1' },
  spec: { nodeName: 'n1', storageClassName: 'fast', sparseLoopDevice: { size: '1Gi' }, ...spec },
});
const UID = '0b9cbd1c-5e26-4d13-9d6c-7f1f4d0d4b5e';
const sparse = (sparseLoopDevice: object) => volume({ sparseLoopDevice });
const raw = (rawBlockDevice: object, spec: object = {}) =>
  volume({ sparseLoopDevice: undefined, rawBlockDevice, ...spec });

const shared = (spec: object = {}) =>
  volume({
    attachPolicy: 'OnDemand',
    attachableNodes: ['n2', 'n1'],
    sparseLoopDevice: { size: '1Gi', directory: '/srv/shared' },
    ...spec,
  });

describe('validateVolume', () => {
  test.each<[string, Volume]>([
    ['a minimal Volume', volume({})],
    [
      'a MetalK8s template',
      volume({ template: { metadata: { labels: { app: 'db' } }, spec: {} } }),
    ],
    [
      'explicit defaults',
      volume({ mode: 'Filesystem', attachPolicy: 'Always', onDelete: 'Delete' }),
    ],
    ['a node with dots', volume({ nodeName: 'node-1.example.com' })],
    ['a size in bytes', sparse({ size: 1073741824 })],
    ['a directory', sparse({ size: '1Gi', directory: '/srv/my volumes/..a' })],
    ['a directory that must be mounted', sparse({ size: '1Gi', requireMount: true })],
    ['the longest directory', sparse({ size: '1Gi', directory: `/${'a'.repeat(1023)}` })],
    ['mode Block', volume({ mode: 'Block' })],
    ['data that is kept', volume({ onDelete: 'Retain' })],
    ['data that is wiped', volume({ onDelete: 'Wipe' })],
    ['a device', raw({ devicePath: '/dev/disk/by-id/wwn-0x5000' })],
    [
      'a device and consent to overwrite its content',
      raw({ devicePath: '/dev/sdb' }, { overwrite: 'gpt:A;1=none' }),
    ],
    ['attachment on demand', volume({ attachPolicy: 'OnDemand' })],
    ['a device, attached on demand', raw({ devicePath: '/dev/sdb' }, { attachPolicy: 'OnDemand' })],
    ['a shared directory', shared()],
    ['null for a shared directory', volume({ attachableNodes: null, attachPolicy: null })],
    [
      'a shared directory for reading',
      shared({ template: { spec: { accessModes: ['ReadOnlyMany'] } } }),
    ],
    [
      'access modes of MetalK8s manifests',
      volume({ template: { spec: { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] } } }),
    ],
    ['the largest size', sparse({ size: '9223372036854771712' })],
    ['adopted storage', raw({ devicePath: '/dev/sdb' }, { adopt: { uid: UID } })],
    ['adopted storage that grows', volume({ adopt: { uid: UID } })],
  ])('accepts %s', (_, valid) => {
    expect(validateVolume(valid)).toEqual([]);
  });

  test.each<[string, Volume]>([
    ['no type', volume({ sparseLoopDevice: undefined })],
    ['an unknown type', volume({ sparseLoopDevice: undefined, tapeDevice: { size: '1Gi' } })],
    ['a type of null', volume({ sparseLoopDevice: null })],
  ])('%s has the message that MetalK8s gives', (_, invalid) => {
    expect(validateVolume(invalid)).toEqual(['volume type not found in Volume Spec']);
  });

  test('refuses two types', () => {
    expect(validateVolume(volume({ rawBlockDevice: { devicePath: '/dev/sdb' } }))).toContain(
      'spec has sparseLoopDevice and rawBlockDevice, but a Volume has one type',
    );
  });

  test('refuses a known type with an unknown one', () => {
    expect(validateVolume(volume({ tapeDevice: {} }))).toEqual([
      'spec.tapeDevice is not a field of a Volume',
    ]);
  });

  test.each<[unknown, string]>([
    ['10GB', 'must be a quantity of bytes'],
    ['', 'must be a quantity of bytes'],
    [1.5e-200, 'must be a quantity of bytes'],
    [undefined, 'must be a quantity of bytes'],
    [{}, 'must be a quantity of bytes'],
    ['0', 'must be greater than 0'],
    [0, 'must be greater than 0'],
    ['-1Gi', 'must be greater than 0'],
    ['8Ei', 'must be at most 9223372036854771712 bytes'],
    ['9223372036854771713', 'must be at most 9223372036854771712 bytes'],
  ])('size %p %s', (size, problem) => {
    expect(validateVolume(sparse({ size }))).toEqual([
      expect.stringMatching(new RegExp(`^spec\\.sparseLoopDevice\\.size is .*${problem}`)),
    ]);
  });

  test.each([
    '',
    'srv',
    './srv',
    '/',
    '/srv/',
    '/srv//a',
    '/srv/./a',
    '/srv/../etc',
    '/srv/..',
    '/srv\n/a',
    '/srv\0',
    '/srv/\u009b1m',
    `/${'a'.repeat(1024)}`,
    `/${'é'.repeat(512)}`,
    7,
    {},
    null,
  ])('directory %j is refused', (directory) => {
    expect(validateVolume(sparse({ size: '1Gi', directory }))).toEqual([
      expect.stringContaining('spec.sparseLoopDevice.directory is '),
    ]);
  });

  test.each([
    '',
    'N1',
    'a_b',
    '-a',
    'a-',
    'a..b',
    '../a',
    'a/b',
    'a b',
    'a\n',
    '$(reboot)',
    'a'.repeat(254),
    undefined,
  ])('nodeName and storageClassName %j are refused', (name) => {
    expect(validateVolume(volume({ nodeName: name }))).toEqual([
      expect.stringMatching(/^spec\.nodeName is .*, but must be a name/),
    ]);
    expect(validateVolume(volume({ storageClassName: name }))).toEqual([
      expect.stringMatching(/^spec\.storageClassName is .*, but must be a name/),
    ]);
  });

  const POPULATOR = {
    builtin: 'Image',
    namespace: 'a',
    name: 'b',
    options: { source: 'http://c/d' },
  } as const;
  test.each<[NonNullable<Volume['spec']['source']>, string]>([
    [{}, 'spec.source has nothing, but a Volume has one source'],
    [
      { volumeName: 'a', snapshotContentName: 'b' },
      'spec.source has volumeName and snapshotContentName, but',
    ],
    [
      { other: 'a' } as never,
      'spec.source.other is not supported by this version of stowage; remove it',
    ],
    [
      { populator: { ...POPULATOR, builtin: 'Other' as never } },
      'builtin is "Other", but must be one of Image',
    ],
    [
      { populator: { ...POPULATOR, name: '../a' } },
      'must have the namespace and the name of an object',
    ],
    [
      { populator: { ...POPULATOR, options: { source: 'a b' } } },
      'options.source is "a b", but must be',
    ],
    [{ volumeName: '../a' }, 'spec.source.volumeName is "../a", but must be a name'],
  ])('the source %j is refused', (source, problem) => {
    expect(validateVolume(volume({ source }))).toEqual([expect.stringContaining(problem)]);
  });

  test('a source is accepted for a file, and refused for a device', () => {
    const source = { volumeName: 'a' };
    expect(validateVolume(volume({ source }))).toEqual([]);
    const { sparseLoopDevice: _, ...spec } = volume({}).spec;
    const disk = {
      ...volume({}),
      spec: { ...spec, source, rawBlockDevice: { devicePath: '/dev/sda' } },
    };
    expect(validateVolume(disk)).toEqual(['spec.source is not for a rawBlockDevice; remove it']);
  });

  test.each<[object, RegExp]>([
    [{ adopt: {} }, /^spec\.adopt\.uid is undefined, but must be the UID/],
    [{ adopt: { uid: UID.toUpperCase() } }, /^spec\.adopt\.uid is "0B9C/],
    [{ adopt: { uid: `../${UID}` } }, /^spec\.adopt\.uid is/],
    [
      { adopt: { uid: UID }, source: { volumeName: 'a' } },
      /^spec\.source is not allowed with spec\.adopt/,
    ],
    [
      { adopt: { uid: UID }, overwrite: 'ext4' },
      /^spec\.overwrite is not allowed with spec\.adopt/,
    ],
  ])('%j is refused', (spec, problem) => {
    const found = validateVolume(raw({ devicePath: '/dev/sdb' }, spec)).filter((each) =>
      problem.test(each),
    );
    expect(found).toHaveLength(1);
  });

  test('storage on a directory that nodes share is not adopted', () => {
    expect(validateVolume(shared({ adopt: { uid: UID } }))).toEqual([
      'spec.attachableNodes is not allowed with spec.adopt; remove it',
    ]);
  });

  test.each([['Never'], [''], [7], [{}]])('attachPolicy %j is refused', (attachPolicy) => {
    expect(validateVolume(volume({ attachPolicy }))).toEqual([
      `spec.attachPolicy is ${JSON.stringify(attachPolicy)}, but must be Always or OnDemand`,
    ]);
  });

  test.each<[string, object, unknown[]]>([
    [
      'storage that stays attached',
      { attachPolicy: undefined },
      [expect.stringMatching(/^spec\.attachableNodes needs spec\.attachPolicy OnDemand/)],
    ],
    [
      'storage that stays attached, explicitly',
      { attachPolicy: 'Always' },
      [expect.stringMatching(/^spec\.attachableNodes needs spec\.attachPolicy OnDemand/)],
    ],
    [
      'storage in the default directory',
      { sparseLoopDevice: { size: '1Gi' } },
      [expect.stringMatching(/^spec\.attachableNodes needs spec\.sparseLoopDevice\.directory/)],
    ],
    [
      'storage without its own node',
      { attachableNodes: ['n2', 'n3'] },
      ['spec.attachableNodes lacks "n1", which is spec.nodeName; add it'],
    ],
    [
      'storage without nodes',
      { attachableNodes: [] },
      ['spec.attachableNodes lacks "n1", which is spec.nodeName; add it'],
    ],
    [
      'storage with duplicate nodes',
      { attachableNodes: ['n1', 'n2', 'n3', 'n2', 'n3', 'n3'] },
      [
        'spec.attachableNodes names "n2" more than once',
        'spec.attachableNodes names "n3" more than once',
      ],
    ],
    [
      'storage with invalid nodes',
      { attachableNodes: ['n1', '../n2', 7] },
      [
        expect.stringMatching(/^spec\.attachableNodes\[1\] is "\.\.\/n2", but must be a name/),
        expect.stringMatching(/^spec\.attachableNodes\[2\] is 7, but must be a name/),
      ],
    ],
    [
      'storage with a node instead of a list',
      { attachableNodes: 'n1' },
      ['spec.attachableNodes is "n1", but must be a list of node names'],
    ],
    [
      'storage on a disk',
      { sparseLoopDevice: undefined, rawBlockDevice: { devicePath: '/dev/sdb' } },
      ['spec.attachableNodes is for a sparseLoopDevice only; remove it'],
    ],
    [
      'storage on a logical volume',
      { sparseLoopDevice: undefined, lvmLogicalVolume: { vgName: 'vg0', size: '1Gi' } },
      ['spec.attachableNodes is for a sparseLoopDevice only; remove it'],
    ],
  ])('shared %s is refused', (_, spec, problems) => {
    expect(validateVolume(shared(spec))).toEqual(problems);
  });

  test.each([
    [volume({ template: { spec: { accessModes: ['ReadWriteOnce', 'ReadWriteMany'] } } })],
    [shared({ template: { spec: { accessModes: ['ReadWriteMany'] } } })],
  ])('ReadWriteMany is refused', (volume_) => {
    expect(validateVolume(volume_)).toEqual([
      expect.stringMatching(
        /^spec\.template\.spec\.accessModes has ReadWriteMany, but only one node can write to a volume/,
      ),
    ]);
  });

  test.each([
    undefined,
    7,
    '',
    'sdb',
    '/dev',
    '/dev/',
    '/etc/shadow',
    '/dev/../etc/shadow',
    '/dev//sdb',
    '/dev/./sdb',
    '/dev/sdb/',
    '/dev/sd\nb',
    '/dev/sd\0b',
    '-/dev/sdb',
    `/dev/${'a'.repeat(1024)}`,
  ])('devicePath %j is refused', (devicePath) => {
    expect(validateVolume(raw({ devicePath }))).toEqual([
      expect.stringContaining('spec.rawBlockDevice.devicePath is '),
    ]);
  });

  test.each(['', 7, true, {}, 'a\nb', 'a\0'])('overwrite %j is refused', (overwrite) => {
    expect(validateVolume(raw({ devicePath: '/dev/sdb' }, { overwrite }))).toEqual([
      expect.stringContaining(
        'spec.overwrite must be the content of the device as the refusal names it',
      ),
    ]);
  });

  const lvm = (more: object = {}) =>
    volume({
      sparseLoopDevice: undefined,
      lvmLogicalVolume: { vgName: 'vg0', size: '1Gi', ...more },
    });

  test.each<[object, unknown[]]>([
    [{}, []],
    [{ vgName: 'VG_0.a+b-c' }, []],
    [{ thinPool: 'pool' }, []],
    [{ thinPool: null }, []],
    [{ size: '0' }, ['spec.lvmLogicalVolume.size is 0, but must be greater than 0']],
    [
      { size: 'x' },
      [expect.stringMatching(/^spec\.lvmLogicalVolume\.size is "x", but must be a quantity/)],
    ],
    ...[
      '',
      '-x',
      '..',
      '.',
      'a/b',
      '../x',
      'a b',
      'vg0 -y',
      '$(x)',
      'é',
      'a'.repeat(128),
      7,
      null,
    ].map((vgName): [object, unknown[]] => [
      { vgName },
      [expect.stringMatching(/^spec\.lvmLogicalVolume\.vgName is .*, but must be/)],
    ]),
    [
      { thinPool: '@tag' },
      [expect.stringMatching(/^spec\.lvmLogicalVolume\.thinPool is "@tag", but must be/)],
    ],
  ])('checks lvmLogicalVolume %j', (more, problems) => {
    expect(validateVolume(lvm(more))).toEqual(problems);
  });

  test.each(['snapshot-1', 'pvmove', '../x', '-y', 'a b', 'a'.repeat(128)])(
    'refuses the name %j of a logical volume',
    (name) => {
      const named = { ...lvm(), metadata: { name } };
      expect(validateVolume(named)).toEqual([
        expect.stringMatching(/LVM does not accept that name/),
      ]);
    },
  );

  test('overwrite consent is accepted for a logical volume', () => {
    const wanted = lvm();
    expect(validateVolume({ ...wanted, spec: { ...wanted.spec, overwrite: 'ext4:x' } })).toEqual(
      [],
    );
  });

  test('overwrite consent is refused for a file', () => {
    expect(validateVolume(volume({ overwrite: 'ext4' }))).toEqual([
      'spec.overwrite is for a rawBlockDevice or an lvmLogicalVolume only; remove it',
    ]);
  });

  test('reports all problems at once', () => {
    expect(
      validateVolume(volume({ nodeName: '', source: {}, sparseLoopDevice: { size: 0 } })),
    ).toHaveLength(3);
  });
});

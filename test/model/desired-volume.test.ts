import { describe, expect, test } from '@jest/globals';
import type { Volume, VolumeSpec } from '../../src/api/volume.ts';
import { desiredOf } from '../../src/model/desired-volume.ts';
import { nodeOf } from '../../src/model/volume-nodes.ts';
import { linkOf } from '../../src/storage/links.ts';
import { BY_PARTUUID, BY_UUID, byMapper, LINK } from '../support/link-words.ts';
import { FILE, UID, volume } from '../support/volume-input.ts';

const options = { fs: { type: 'xfs' as const, options: ['-K'] }, mountOptions: [] };
const prepared = { node: 'n2', paths: [`/old/${UID}`], identity: 'serial=1 size=4096' };

const sparse = (spec: Partial<VolumeSpec> = {}, status?: Volume['status']): Volume => {
  const made = volume(status);
  return { ...made, spec: { ...made.spec, ...spec } };
};
const raw = (spec: Partial<VolumeSpec> = {}, status?: Volume['status']): Volume => {
  const { sparseLoopDevice: _, ...rest } = sparse(spec, status).spec;
  return { ...volume(status), spec: { ...rest, rawBlockDevice: { devicePath: '/dev/sdb' } } };
};

describe('a sparse Volume', () => {
  test('is a file named by its UID in the MetalK8s directory', () => {
    expect(desiredOf(sparse(), options)).toEqual({
      type: 'sparse',
      uid: UID,
      name: 'data1',
      mode: 'Filesystem',
      file: FILE,
      sizeBytes: 1n << 30n,
      fs: options.fs,
      recorded: false,
      onDelete: 'Delete',
      onDemand: false,
      readOnly: false,
      shared: false,
      kubeletRoot: '/var/lib/kubelet',
    });
  });

  test.each<[string, Partial<VolumeSpec>, object]>([
    ['where a pod needs it', { attachPolicy: 'OnDemand' }, { onDemand: true, shared: false }],
    ['always', { attachPolicy: 'Always' }, { onDemand: false }],
    [
      'from a shared directory',
      { attachPolicy: 'OnDemand', attachableNodes: ['n1', 'n2'] },
      { onDemand: true, shared: true, readOnly: false },
    ],
    [
      'for reading on several nodes',
      {
        attachPolicy: 'OnDemand',
        attachableNodes: ['n1', 'n2'],
        template: { spec: { accessModes: ['ReadOnlyMany'] } },
      },
      { shared: true, readOnly: true },
    ],
    [
      'for writing on one node, regardless of access modes',
      { template: { spec: { accessModes: ['ReadOnlyMany'] } } },
      { readOnly: false },
    ],
    [
      'for writing on one node, if reading is requested as well',
      {
        attachPolicy: 'OnDemand',
        attachableNodes: ['n1', 'n2'],
        template: { spec: { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] } },
      },
      { readOnly: false },
    ],
    [
      'for writing, with an invalid template',
      { attachableNodes: ['n1'], template: { spec: { accessModes: 'ReadOnlyMany' } } },
      { readOnly: false },
    ],
  ])('sets onDemand, shared and readOnly: attached %s', (_, spec, expected) => {
    expect(desiredOf(sparse(spec), options)).toMatchObject(expected);
  });

  test.each<[string, string | number, bigint]>([
    ['whole blocks', '8Ki', 8192n],
    ['a part of a block', 4097, 8192n],
    ['one byte', 1, 4096n],
    ['an invalid size', 'x', 0n],
    ['a negative size', '-1Gi', 0n],
  ])('rounds its size up to whole blocks: %s', (_, size, sizeBytes) => {
    expect(desiredOf(sparse({ sparseLoopDevice: { size } }), options)).toMatchObject({ sizeBytes });
  });

  test('is in the directory of its spec, or at the recorded path once provisioned', () => {
    const sparseLoopDevice = { size: '1Gi', directory: '/srv/v' };
    expect(desiredOf(sparse({ sparseLoopDevice }), options)).toMatchObject({
      file: `/srv/v/${UID}`,
    });
    const made = sparse({ sparseLoopDevice }, { prepared });
    expect(desiredOf(made, options)).toMatchObject({ file: `/old/${UID}`, recorded: true });
    expect(nodeOf(made)).toBe('n2');
  });
});

describe('a Volume on LVM', () => {
  const lvm = (
    more: object = {},
    spec: Partial<VolumeSpec> = {},
    status?: Volume['status'],
  ): Volume => {
    const { sparseLoopDevice: _, ...rest } = sparse(spec, status).spec;
    return {
      ...volume(status),
      spec: { ...rest, lvmLogicalVolume: { vgName: 'vg0', size: '1Gi', ...more } },
    };
  };

  test('is a logical volume of the same name, with onDelete Retain by default', () => {
    expect(desiredOf(lvm(), options)).toEqual({
      type: 'lvm',
      uid: UID,
      name: 'data1',
      mode: 'Filesystem',
      fs: options.fs,
      recorded: false,
      onDelete: 'Retain',
      vgName: 'vg0',
      thinPool: undefined,
      sizeBytes: 1n << 30n,
      overwrite: undefined,
      forced: false,
      identity: undefined,
      kubeletRoot: '/var/lib/kubelet',
    });
    expect(desiredOf(lvm({}, { onDelete: 'Wipe' }), options)).toMatchObject({ onDelete: 'Wipe' });
  });

  test('has its thin pool, overwrite consent and recorded identity', () => {
    const made = { node: 'n2', paths: ['/dev/vg0/data1'], identity: 'dm=LVM-x size=1' };
    const wanted = lvm({ thinPool: 'pool' }, { overwrite: 'ext4:x' }, { prepared: made });
    expect(desiredOf(wanted, undefined)).toMatchObject({
      thinPool: 'pool',
      overwrite: 'ext4:x',
      recorded: true,
      identity: 'dm=LVM-x size=1',
    });
    expect(nodeOf(wanted)).toBe('n2');
  });

  test('is zeroed if provisioned for a Block claim without a data source', () => {
    const claimed = (spec: Partial<VolumeSpec>, pool: object = {}, name = `pvc-${UID}`) => {
      const template = {
        metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': 'volume.stowage.dev' } },
      };
      const made = lvm(pool, { mode: 'Block', template, ...spec });
      return { ...made, metadata: { ...made.metadata, name } };
    };
    const zeroed = { zeroed: true };
    expect(desiredOf(claimed({}), options)).toMatchObject(zeroed);
    // A thin pool returns zeros. Elsewhere, zeros are written.
    expect(desiredOf(claimed({}, { thinPool: 'pool' }), options)).toMatchObject(zeroed);
    const fill = { builtin: 'Image', what: 'Image prod/debian', options: {} } as const;
    const others = [
      desiredOf(claimed({ mode: 'Filesystem' }), options),
      desiredOf(claimed({}, {}, 'data1'), options),
      desiredOf(claimed({ template: {} }), options),
      desiredOf(claimed({}), options, 'n1', { fill }),
    ];
    for (const other of others) expect(other).not.toHaveProperty('zeroed');
  });

  test('is forced by the MetalK8s annotation force-lvcreate', () => {
    const annotations = { 'metalk8s.scality.com/force-lvcreate': '' };
    const forced = { ...lvm(), metadata: { ...lvm().metadata, annotations } };
    expect(desiredOf(forced, options)).toMatchObject({ forced: true, overwrite: undefined });
  });
});

describe('a raw Volume', () => {
  test('is the device of the spec, with the given overwrite consent', () => {
    expect(desiredOf(raw({ mode: 'Block', overwrite: 'gpt:A;1=none' }), undefined)).toEqual({
      type: 'raw',
      uid: UID,
      name: 'data1',
      mode: 'Block',
      devicePath: '/dev/sdb',
      overwrite: 'gpt:A;1=none',
      identity: undefined,
      fs: undefined,
      recorded: false,
      onDelete: 'Retain',
      kubeletRoot: '/var/lib/kubelet',
    });
  });

  test('has the recorded identity', () => {
    expect(
      desiredOf(raw({}, { prepared: { ...prepared, paths: ['/dev/sdb'] } }), options),
    ).toMatchObject({
      recorded: true,
      identity: prepared.identity,
    });
  });
});

test('a Volume may lose its data only once it is deleted with onDelete Delete', () => {
  const deleted = (onDelete: 'Delete' | 'Retain' | 'Wipe', deletionTimestamp?: string) => {
    const volume = sparse({ onDelete });
    return desiredOf(
      {
        ...volume,
        metadata: { ...volume.metadata, ...(deletionTimestamp && { deletionTimestamp }) },
      },
      options,
    );
  };
  const at = '2026-01-02T03:04:05Z';
  expect(deleted('Delete', at)).toMatchObject({ discarded: true });
  // Otherwise a detach must not lose a removed file that only the loop device still has.
  const others = [deleted('Retain', at), deleted('Wipe', at), deleted('Delete')];
  for (const kept of others) expect(kept).not.toHaveProperty('discarded');
});

test.each(['Delete', 'Retain', 'Wipe'] as const)('onDelete %s reaches storage', (onDelete) => {
  expect(desiredOf(sparse({ onDelete }), options)).toMatchObject({ onDelete });
  expect(desiredOf(raw({ onDelete }), options)).toMatchObject({ onDelete });
});

test('a shared Volume takes its recorded size from status.capacity', () => {
  const of = (attachableNodes: string[], capacity: string) => {
    const volume = sparse();
    const status = {
      ...volume.status,
      capacity,
      prepared: { node: 'n1', paths: [`/d/${UID}`], identity: '' },
    };
    return desiredOf({ ...volume, spec: { ...volume.spec, attachableNodes }, status }, options);
  };
  expect(of(['n1', 'n2'], '1Gi')).toMatchObject({ recordedBytes: 1n << 30n });
  expect(of(['n1', 'n2'], 'much')).not.toHaveProperty('recordedBytes');
  expect(of(['n1'], '1Gi')).not.toHaveProperty('recordedBytes');
});

describe('status.devicePath', () => {
  const OTHER = UID.replace('6', '7');
  const MAPPER = byMapper('LVM-abc');
  const lvm = (spec: Partial<VolumeSpec>, status?: Volume['status']): Volume => {
    const { sparseLoopDevice: _, ...rest } = sparse(spec, status).spec;
    return {
      ...volume(status),
      spec: { ...rest, lvmLogicalVolume: { vgName: 'vg0', size: '1Gi' } },
    };
  };
  const KINDS = [
    ['sparse', sparse],
    ['raw', raw],
    ['lvm', lvm],
  ] as const;
  const PATHS: [mode: VolumeSpec['mode'], string, boolean][] = [
    ['Filesystem', BY_UUID, true],
    [undefined, BY_UUID, true],
    ['Block', BY_PARTUUID, true],
    ['Block', MAPPER, true],
    // Paths of the other mode, of another Volume, of a device, and paths that udev does not create.
    ['Filesystem', BY_PARTUUID, false],
    ['Filesystem', MAPPER, false],
    ['Block', BY_UUID, false],
    ['Filesystem', BY_UUID.replace(UID, OTHER), false],
    ['Block', BY_PARTUUID.replace(UID, OTHER), false],
    ['Filesystem', LINK, false],
    ['Filesystem', LINK.replace(UID, OTHER), false],
    ['Filesystem', '/dev/sda', false],
    ['Block', '/dev/sda', false],
    ['Block', `${MAPPER}/../../../sda`, false],
    ['Block', `${MAPPER}\n`, false],
    ['Block', `/x${MAPPER}`, false],
    ['Block', byMapper('CRYPT-abc'), false],
    ['Filesystem', '', false],
  ];
  test.each(KINDS.flatMap(([type, of]) => PATHS.map((row) => [type, ...row, of] as const)))(
    'in a %s Volume of mode %s with %j: is kept as the link: %s',
    (_, mode, devicePath, isKept, of) => {
      const desired = desiredOf(of(mode === undefined ? {} : { mode }, { devicePath }), options);
      expect(desired.earlierLink).toBe(isKept ? devicePath : undefined);
      // A path that no version assigned is ignored.
      expect(linkOf(desired)).toBe(isKept ? devicePath : LINK);
    },
  );

  test('is absent in a new Volume, which gets the current link', () => {
    expect(desiredOf(sparse(), options)).not.toHaveProperty('earlierLink');
    expect(linkOf(desiredOf(sparse(), options))).toBe(LINK);
  });
});

test('a Volume without a storage type is retained', () => {
  const { sparseLoopDevice: _, ...spec } = sparse().spec;
  expect(desiredOf({ ...volume(), spec }, options)).toMatchObject({ onDelete: 'Retain' });
});

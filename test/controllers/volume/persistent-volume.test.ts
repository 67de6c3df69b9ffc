import { describe, expect, test } from '@jest/globals';
import type { Volume, VolumeSpec } from '../../../src/api/volume.ts';
import {
  buildPv as build,
  isUnused,
  whatHolds,
  withPathOf,
} from '../../../src/controllers/volume/persistent-volume.ts';
import type { ClassOptions } from '../../../src/model/class-options.ts';
import { isPvOf } from '../../../src/model/persistent-volume.ts';
import { BY_PARTUUID, BY_UUID, byMapper, LINK } from '../../support/link-words.ts';
import { FINALIZER, pv, UID, volume } from '../../support/volume-input.ts';

const options: ClassOptions = { fs: { type: 'ext4', options: [] }, mountOptions: ['noatime'] };
const buildPv = (volume: Volume, given: ClassOptions = options, hostnames = ['n1']) =>
  build(volume, given, hostnames);
const made = { capacity: '1Gi', devicePath: LINK };

test('a PersistentVolume has the shape of MetalK8s', () => {
  expect(buildPv(volume(made), options)).toEqual({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: 'data1',
      labels: { app: 'x' },
      // Provisioning also attached it.
      annotations: { 'stowage.dev/attached-nodes': '["n1"]' },
      finalizers: [FINALIZER],
      ownerReferences: [
        {
          apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
          kind: 'Volume',
          name: 'data1',
          uid: UID,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'local',
      volumeMode: 'Filesystem',
      mountOptions: ['noatime'],
      local: { path: LINK, fsType: 'ext4' },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            {
              matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }],
            },
          ],
        },
      },
    },
  });
});

test('the node affinity selects the hostname labels', () => {
  const { nodeAffinity } = buildPv(volume(made), options, ['h1', 'h2']).spec;
  const values = ['h1', 'h2'];
  expect(nodeAffinity).toEqual({
    required: {
      nodeSelectorTerms: [
        { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }] },
      ],
    },
  });
});

test('a PersistentVolume takes extras of the template, but no fields that Stowage sets', () => {
  const with_ = volume(made);
  with_.spec.template = {
    metadata: {
      annotations: { note: 'x', 'stowage.dev/attached-nodes': '["evil"]' },
      finalizers: ['someone/else'],
    } as never,
    spec: {
      accessModes: ['ReadWriteMany'],
      local: { path: '/etc' },
      claimRef: { name: 'c', namespace: 'n' },
    },
  };
  const built = buildPv(with_, options);
  expect(built.metadata.finalizers).toEqual([FINALIZER]);
  expect(built.metadata.annotations).toEqual({ note: 'x', 'stowage.dev/attached-nodes': '["n1"]' });
  expect(built.spec.accessModes).toEqual(['ReadWriteOnce']);
  expect(built.spec.local).toEqual({ path: LINK, fsType: 'ext4' });
  expect(built.spec.claimRef).toEqual({ name: 'c', namespace: 'n' });
});

describe('a PersistentVolume on a shared directory', () => {
  const shared = (accessModes?: unknown, mode: VolumeSpec['mode'] = 'Filesystem') => {
    const whole = volume({ ...made, prepared: { node: 'n2', paths: [], identity: '' } });
    whole.spec = {
      ...whole.spec,
      mode,
      attachPolicy: 'OnDemand',
      attachableNodes: ['n1', 'n2', 'n3'],
      ...(accessModes === undefined ? {} : { template: { spec: { accessModes } } }),
    };
    const given: ClassOptions = {
      fs: mode === 'Block' ? undefined : options.fs,
      mountOptions: mode === 'Block' ? [] : ['rw', 'noatime'],
    };
    return buildPv(whole, given, ['n1', 'n2', 'n3']);
  };

  test('is usable on all nodes of the directory, and attached to none', () => {
    const { metadata, spec } = shared();
    expect(metadata.annotations).toEqual({ 'stowage.dev/attached-nodes': '[]' });
    expect(spec.nodeAffinity).toEqual({
      required: {
        nodeSelectorTerms: [
          {
            matchExpressions: [
              { key: 'kubernetes.io/hostname', operator: 'In', values: ['n1', 'n2', 'n3'] },
            ],
          },
        ],
      },
    });
  });

  test.each<[string, unknown, VolumeSpec['mode'], string, string[] | undefined]>([
    ['no access modes', undefined, 'Filesystem', 'ReadWriteOnce', ['rw', 'noatime']],
    ['ReadWriteOnce', ['ReadWriteOnce'], 'Filesystem', 'ReadWriteOnce', ['rw', 'noatime']],
    [
      'ReadOnlyMany and ReadWriteOnce',
      ['ReadOnlyMany', 'ReadWriteOnce'],
      'Filesystem',
      'ReadWriteOnce',
      ['rw', 'noatime'],
    ],
    ['ReadOnlyMany', ['ReadOnlyMany'], 'Filesystem', 'ReadOnlyMany', ['noatime', 'ro']],
    ['ReadOnlyMany, as a device', ['ReadOnlyMany'], 'Block', 'ReadOnlyMany', undefined],
  ])('sets access mode and mount options: %s', (_, asked, mode, accessMode, mountOptions) => {
    const { spec } = shared(asked, mode);
    expect(spec.accessModes).toEqual([accessMode]);
    expect(spec.mountOptions).toEqual(mountOptions);
  });

  test('is not ReadOnlyMany if only one node has the directory', () => {
    const single = volume(made);
    single.spec.template = { spec: { accessModes: ['ReadOnlyMany'] } };
    expect(buildPv(single, options).spec.accessModes).toEqual(['ReadWriteOnce']);
  });
});

test('the PersistentVolume of an OnDemand Volume is attached to no node at first', () => {
  const onDemand = volume(made);
  onDemand.spec.attachPolicy = 'OnDemand';
  expect(buildPv(onDemand, options).metadata.annotations).toEqual({
    'stowage.dev/attached-nodes': '[]',
  });
});

test('a PersistentVolume of the same name belongs to the Volume only by its owner', () => {
  expect(isPvOf(pv('Available'), volume())).toBe(true);
  expect(isPvOf(pv('Available', { ownerReferences: [] }), volume())).toBe(false);
  expect(isPvOf(pv('Available'), volume(undefined, { uid: 'another' }))).toBe(false);
});

describe('a PersistentVolume without its owner reference', () => {
  const orphan = (path?: string) => {
    const left = pv('Bound', { ownerReferences: [] });
    return path === undefined ? left : { ...left, spec: { ...left.spec, local: { path } } };
  };
  const of = (mode: NonNullable<VolumeSpec['mode']>, devicePath?: string) => {
    const whole = volume(devicePath === undefined ? undefined : { devicePath });
    return { ...whole, spec: { ...whole.spec, mode } };
  };
  const MAPPER = byMapper('LVM-abc');
  test.each<
    [string, NonNullable<VolumeSpec['mode']>, path: string, recorded: string | undefined, boolean]
  >([
    ['the current path of a file system', 'Filesystem', LINK, undefined, true],
    ['the current path of a device', 'Block', LINK, undefined, true],
    ['the earlier path of a file system', 'Filesystem', BY_UUID, undefined, true],
    ['the earlier path of a device', 'Block', BY_PARTUUID, undefined, true],
    // The Volume's status has the later path.
    ['the earlier path, with another on record', 'Filesystem', BY_UUID, LINK, true],
    ['the path of the other mode', 'Filesystem', BY_PARTUUID, undefined, false],
    ['the path of the other mode, too', 'Block', BY_UUID, undefined, false],
    ['the recorded path of a logical volume', 'Block', MAPPER, MAPPER, true],
    ['an unrecorded path of a logical volume', 'Block', MAPPER, undefined, false],
    ['the path of another logical volume', 'Block', MAPPER, byMapper('LVM-def'), false],
    ['the path of a logical volume', 'Filesystem', MAPPER, MAPPER, false],
    ['a recorded path of no known kind', 'Block', '/dev/sda', '/dev/sda', false],
  ])('is matched by its path: %s, in mode %s', (_, mode, path, recorded, expected) => {
    expect(isPvOf(orphan(path), of(mode, recorded))).toBe(expected);
    const other = of(mode, recorded);
    expect(
      isPvOf(orphan(path), { ...other, metadata: { ...other.metadata, uid: 'another' } }),
    ).toBe(
      // The path does not contain the Volume's UID.
      expected && path === MAPPER,
    );
  });

  test('is not matched without a path', () => {
    expect(isPvOf(orphan(), of('Filesystem', LINK))).toBe(false);
  });

  test.each<[string, string | undefined, string | undefined, string | undefined]>([
    ['is used if none is recorded', BY_UUID, undefined, BY_UUID],
    ['replaces no recorded path', BY_UUID, LINK, LINK],
    ['stays undefined if there is none', undefined, undefined, undefined],
  ])('has a path that %s', (_, path, recorded, expected) => {
    expect(withPathOf(orphan(path), of('Filesystem', recorded)).status?.devicePath).toBe(expected);
  });

  test('sets a missing devicePath; no PersistentVolume leaves the Volume unchanged', () => {
    const whole = volume({ phase: 'Available' });
    expect(withPathOf(undefined, whole)).toBe(whole);
    expect(withPathOf(orphan(LINK), whole).status).toEqual({
      phase: 'Available',
      devicePath: LINK,
    });
  });
});

test.each([
  ['Available', [FINALIZER], true],
  ['Released', [FINALIZER], true],
  ['Failed', [FINALIZER], true],
  ['Bound', [FINALIZER], false],
  ['Pending', [FINALIZER], false],
  [undefined, [FINALIZER], false],
  ['Available', [FINALIZER, 'kubernetes.io/pv-protection'], false],
] as const)('phase %s with finalizers %j: unused is %s', (phase, finalizers, expected) => {
  expect(isUnused(pv(phase, { finalizers: [...finalizers] }))).toBe(expected);
});

test('a PersistentVolume in use is reported with its finalizers or its phase', () => {
  expect(whatHolds(pv('Available', { finalizers: [FINALIZER, 'x/y'] }))).toBe(
    'it has other finalizers: x/y',
  );
  expect(whatHolds(pv('Pending'))).toBe('its phase is Pending');
});

describe('the PersistentVolume of a Volume created for a claim', () => {
  const annotations = { 'pv.kubernetes.io/provisioned-by': 'volume.stowage.dev' };
  const claimRef = { kind: 'PersistentVolumeClaim', namespace: 'prod', name: 'data', uid: 'c1' };
  const built = (spec: object, metadata: object = { annotations }) => {
    const plain = volume(made);
    return buildPv(
      { ...plain, spec: { ...plain.spec, template: { metadata, spec: { claimRef, ...spec } } } },
      options,
    );
  };

  test('is reserved for the claim and names its provisioner', () => {
    const pv = built({});
    expect(pv.spec.claimRef).toEqual(claimRef);
    expect(pv.metadata.annotations).toMatchObject(annotations);
  });

  test.each([
    ['Delete', 'Delete', annotations],
    ['Retain', 'Retain', annotations],
    ['Recycle', 'Retain', annotations],
    // A user who writes this into their own Volume would otherwise lose its data.
    ['Delete', 'Retain', {}],
  ])('maps policy %s to %s with %j', (persistentVolumeReclaimPolicy, expected, given) => {
    const pv = built({ persistentVolumeReclaimPolicy }, { annotations: given });
    expect(pv.spec.persistentVolumeReclaimPolicy).toBe(expected);
  });

  test.each([
    [['ReadWriteOncePod'], ['ReadWriteOncePod']],
    [
      ['ReadOnlyMany', 'ReadWriteOnce'],
      ['ReadWriteOnce', 'ReadOnlyMany'],
    ],
    [['ReadWriteMany'], ['ReadWriteOnce']],
    [[], ['ReadWriteOnce']],
  ])('maps access modes %j to %j', (accessModes, expected) => {
    expect(built({ accessModes }).spec.accessModes).toEqual(expected);
  });
});

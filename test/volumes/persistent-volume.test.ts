import { expect, test } from '@jest/globals';
import { buildPv, isPvOf, isUnused, whatHolds } from '../../src/volumes/persistent-volume.ts';
import { FINALIZER, pv, UID, volume } from '../support/volume-input.ts';

const options = { fs: { type: 'ext4' as const, options: [] }, mountOptions: ['noatime'] };
const made = { capacity: '1Gi', devicePath: `/dev/disk/by-uuid/${UID}` };

test('is shaped as MetalK8s shapes it', () => {
  expect(buildPv(volume(made), options)).toEqual({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: 'data1',
      labels: { app: 'x' },
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
      local: { path: `/dev/disk/by-uuid/${UID}`, fsType: 'ext4' },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }] },
          ],
        },
      },
    },
  });
});

test('takes extras of the template, but neither finalizers nor what we decide', () => {
  const with_ = volume(made);
  with_.spec.template = {
    metadata: { annotations: { note: 'x' }, finalizers: ['someone/else'] } as never,
    spec: {
      accessModes: ['ReadWriteMany'],
      local: { path: '/etc' },
      claimRef: { name: 'c', namespace: 'n' },
    },
  };
  const built = buildPv(with_, options);
  expect(built.metadata.finalizers).toEqual([FINALIZER]);
  expect(built.metadata.annotations).toEqual({ note: 'x' });
  expect(built.spec.accessModes).toEqual(['ReadWriteOnce']);
  expect(built.spec.local).toEqual({ path: `/dev/disk/by-uuid/${UID}`, fsType: 'ext4' });
  expect(built.spec.claimRef).toEqual({ name: 'c', namespace: 'n' });
});

test('a PersistentVolume of the name is ours by the owner alone', () => {
  expect(isPvOf(pv('Available'), volume())).toBe(true);
  expect(isPvOf(pv('Available', { ownerReferences: [] }), volume())).toBe(false);
  expect(isPvOf(pv('Available'), volume(undefined, { uid: 'another' }))).toBe(false);
});

test('or by the device that it leads to, whoever took its owner off', () => {
  const orphan = pv('Bound', { ownerReferences: [] });
  orphan.spec.local = { path: `/dev/disk/by-uuid/${UID}` };
  expect(isPvOf(orphan, volume())).toBe(true);
  expect(isPvOf(orphan, volume(undefined, { uid: 'another' }))).toBe(false);
});

test.each([
  ['Available', [FINALIZER], true],
  ['Released', [FINALIZER], true],
  ['Failed', [FINALIZER], true],
  ['Bound', [FINALIZER], false],
  ['Pending', [FINALIZER], false],
  [undefined, [FINALIZER], false],
  ['Available', [FINALIZER, 'kubernetes.io/pv-protection'], false],
] as const)('%s with finalizers %j: unused is %s', (phase, finalizers, expected) => {
  expect(isUnused(pv(phase, { finalizers: [...finalizers] }))).toBe(expected);
});

test('what holds it is named', () => {
  expect(whatHolds(pv('Available', { finalizers: [FINALIZER, 'x/y'] }))).toBe(
    'finalizers of others hold it: x/y',
  );
  expect(whatHolds(pv('Pending'))).toBe('its phase is Pending');
});

import { expect, test } from '@jest/globals';
import type { StorageClass } from '../../src/api/core.ts';
import { claimVolume } from '../../src/model/claim-volume.ts';
import {
  type DynamicClass,
  dynamicClass,
  fileSystemProblem,
} from '../../src/model/dynamic-class.ts';
import { claim, storageClass } from '../controllers/provisioner/claim-input.ts';

const parsed = (parameters: Record<string, string>) => dynamicClass(storageClass({ parameters }));

test.each([
  [{}, { type: 'sparse', directory: '/var/lib/metalk8s/storage/sparse' }],
  [{ directory: '/data' }, { type: 'sparse', directory: '/data' }],
  [
    { directory: '/data', requireMount: 'true' },
    { type: 'sparse', directory: '/data', requireMount: true },
  ],
  [
    { directory: '/data', requireMount: 'false' },
    { type: 'sparse', directory: '/data' },
  ],
  [
    { type: 'lvm', vgName: 'vg0' },
    { type: 'lvm', vgName: 'vg0', thinPool: undefined },
  ],
  [
    { type: 'lvm', vgName: 'vg0', thinPool: 'p' },
    { type: 'lvm', vgName: 'vg0', thinPool: 'p' },
  ],
  [
    { type: 'lvm', vgName: 'vg0', overwriteFreeExtents: 'true' },
    { type: 'lvm', vgName: 'vg0', thinPool: undefined, overwrite: true },
  ],
  [
    { type: 'lvm', vgName: 'vg0', overwriteFreeExtents: 'false' },
    { type: 'lvm', vgName: 'vg0', thinPool: undefined },
  ],
])('%j selects the storage %j', (parameters, place) => {
  expect(parsed(parameters as Record<string, string>)).toEqual({
    place,
    directory: (parameters as Record<string, string>).directory,
    overcommit: 1,
    onDelete: 'Delete',
    waits: false,
  });
});

test.each<[Record<string, string>, Partial<StorageClass>, object, string]>([
  [{ onDelete: 'Wipe' }, {}, { wipe: true }, 'Wipe'],
  [{ type: 'lvm', vgName: 'vg0', onDelete: 'Wipe' }, {}, { wipe: true }, 'Wipe'],
  [{ type: 'lvm', vgName: 'vg0', thinPool: 'p', onDelete: 'Wipe' }, {}, { wipe: true }, 'Wipe'],
  [{ onDelete: 'Wipe' }, { reclaimPolicy: 'Retain' }, { wipe: true, onDelete: 'Retain' }, 'Retain'],
  [{ onDelete: 'Delete' }, {}, { onDelete: 'Delete' }, 'Delete'],
])('%j with %j sets onDelete and the reclaim policy', (parameters, more, expected, onDelete) => {
  const found = dynamicClass(storageClass({ parameters, ...more })) as DynamicClass;
  expect(found).toMatchObject(expected);
  expect('wipe' in found).toBe('wipe' in expected);
  const { spec } = claimVolume(claim(), found, 'n1', undefined);
  expect(spec.onDelete).toBe(onDelete);
  expect(spec.template?.spec?.persistentVolumeReclaimPolicy).toBe(more.reclaimPolicy ?? 'Delete');
});

test.each([
  [{}, undefined],
  [{ attachPolicy: 'Always' }, 'Always'],
  [{ type: 'lvm', vgName: 'vg0', attachPolicy: 'OnDemand' }, 'OnDemand'],
])('%j sets the attach policy', (parameters, attachPolicy) => {
  const found = parsed(parameters as Record<string, string>) as DynamicClass;
  expect(claimVolume(claim(), found, 'n1', undefined).spec.attachPolicy).toBe(attachPolicy);
});

test.each<[Record<string, string>, string]>([
  [
    { type: 'raw' },
    'parameter type is "raw", but must be sparse (the default) or lvm: disks cannot be provisioned for claims',
  ],
  [{ vgName: 'vg0' }, 'parameter vgName is not for type sparse'],
  [{ thinPool: 'p' }, 'parameter thinPool is not for type sparse'],
  [{ type: 'lvm', vgName: 'vg0', directory: '/x' }, 'parameter directory is not for type lvm'],
  [
    { type: 'lvm', vgName: 'vg0', requireMount: 'true' },
    'parameter requireMount is not for type lvm',
  ],
  [{ requireMount: 'yes' }, 'parameter requireMount is "yes", but must be true or false'],
  [{ type: 'lvm' }, 'parameter vgName is "", but must be'],
  [{ type: 'lvm', vgName: '-a' }, 'parameter vgName is "-a", but must be'],
  [{ type: 'lvm', vgName: 'vg0', thinPool: 'a/b' }, 'parameter thinPool is "a/b", but must be'],
  [{ directory: 'x' }, 'parameter directory is "x", but must be an absolute path'],
  [
    { directory: '/etc/cron.d' },
    'parameter directory is "/etc/cron.d", but must be outside of /etc, such as below /var/lib/stowage or /srv',
  ],
  [{ directory: '/x/../y' }, 'parameter directory is "/x/../y", but must be a directory below /'],
  [{ overcommit: '0.5' }, 'parameter overcommit is "0.5", but must be a number from 1 to 1000'],
  [{ overcommit: 'much' }, 'parameter overcommit is "much", but must be a number from 1 to 1000'],
  [
    { type: 'lvm', vgName: 'vg0', overcommit: '2' },
    'parameter overcommit is not for logical volumes outside a thin pool',
  ],
  [{ overwriteFreeExtents: 'true' }, 'parameter overwriteFreeExtents is not for type sparse'],
  [
    { type: 'lvm', vgName: 'vg0', overwriteFreeExtents: 'yes' },
    'parameter overwriteFreeExtents is "yes", but must be "true" or "false"',
  ],
  [
    { type: 'lvm', vgName: 'vg0', thinPool: 'p', overwriteFreeExtents: 'true' },
    'parameter overwriteFreeExtents is not for a thin pool',
  ],
  [
    { onDelete: 'Retain' },
    'parameter onDelete is "Retain", but must be Delete (the default) or Wipe',
  ],
  [
    { attachPolicy: 'Never' },
    'parameter attachPolicy is "Never", but must be Always (the default) or OnDemand',
  ],
  [{ onDelete: '' }, 'parameter onDelete is "", but must be Delete'],
  [{ constructor: 'x' }, 'unknown parameter "constructor"'],
  [
    { 'csi.storage.k8s.io/provisioner-secret-name': 'x' },
    'unknown parameter "csi.storage.k8s.io/provisioner-secret-name"',
  ],
])('%j is refused', (parameters, message) => {
  expect(parsed(parameters)).toEqual({
    problem: expect.stringContaining(`storage class dynamic: ${message}`),
  });
});

test.each<[Record<string, string>, string | undefined]>([
  [{ 'csi.storage.k8s.io/fstype': 'xfs' }, undefined],
  [{ 'csi.storage.k8s.io/fstype': 'xfs', fsType: 'xfs' }, undefined],
  [{ FsType: 'xfs' }, undefined],
  [
    { 'csi.storage.k8s.io/fsType': 'nfs' },
    'parameter csi.storage.k8s.io/fsType is "nfs", but must be ext4 or xfs',
  ],
  [{ fstype: '' }, 'parameter fstype is "", but must be ext4 or xfs'],
  [{ 'csi.storage.k8s.io/fstype': 'xfs', fsType: 'ext4' }, 'parameters fsType and'],
])('%j is a file system of CSI parameters', (parameters, problem) => {
  expect(parsed(parameters)).toHaveProperty('place');
  const found = fileSystemProblem({
    ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'dynamic' } },
    ...{ provisioner: 'volume.stowage.dev', parameters },
  });
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(problem);
});

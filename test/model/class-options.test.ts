import { expect, test } from '@jest/globals';
import type { StorageClass } from '../../src/api/core.ts';
import { checkClass } from '../../src/model/class-options.ts';

const storageClass = (fields: Partial<StorageClass>): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'fast' },
  provisioner: 'kubernetes.io/no-provisioner',
  ...fields,
});

test.each<[string, Partial<StorageClass>, object]>([
  ['none', {}, { fs: { type: 'ext4', options: [] }, mountOptions: [] }],
  [
    "MetalK8s's",
    { parameters: { fsType: 'ext4', mkfsOptions: '["-m", "0"]' }, mountOptions: ['rw', 'discard'] },
    { fs: { type: 'ext4', options: ['-m', '0'] }, mountOptions: ['rw', 'discard'] },
  ],
  [
    "CSI provisioners'",
    { parameters: { 'csi.storage.k8s.io/fstype': 'xfs' } },
    { fs: { type: 'xfs', options: [] }, mountOptions: [] },
  ],
  ...['fstype', 'FsType', 'FSTYPE', 'csi.storage.k8s.io/fsType'].map(
    (name): [string, Partial<StorageClass>, object] => [
      `the spelling ${name}, as external-provisioner`,
      { parameters: { [name]: 'xfs' } },
      { fs: { type: 'xfs', options: [] }, mountOptions: [] },
    ],
  ),
  [
    'an empty type of CSI, which is the default',
    { parameters: { 'csi.storage.k8s.io/fstype': '' } },
    { fs: { type: 'ext4', options: [] }, mountOptions: [] },
  ],
  [
    'an empty type of CSI beside another one',
    { parameters: { 'csi.storage.k8s.io/fstype': '', fsType: 'xfs' } },
    { fs: { type: 'xfs', options: [] }, mountOptions: [] },
  ],
  [
    'both types, if they are the same',
    { parameters: { fsType: 'xfs', 'csi.storage.k8s.io/fstype': 'xfs' } },
    { fs: { type: 'xfs', options: [] }, mountOptions: [] },
  ],
])('checkClass accepts parameters: %s', (_, fields, expected) => {
  expect(checkClass(storageClass(fields))).toEqual(expected);
});

test.each<[Record<string, string>, string]>([
  [{ fsType: 'btrfs' }, 'unsupported filesystem: btrfs'],
  [{ fsType: 'XFS' }, 'unsupported filesystem: XFS'],
  [{ fsType: '' }, 'unsupported filesystem: '],
  [
    { 'csi.storage.k8s.io/fsType': 'btrfs' },
    'unsupported filesystem: btrfs (parameter csi.storage.k8s.io/fsType of storage class fast',
  ],
  [
    { fsType: '', 'csi.storage.k8s.io/fstype': 'xfs' },
    'parameters fsType and csi.storage.k8s.io/fstype differ: "" and "xfs"',
  ],
  [{ fsType: 'ext4', fstype: 'xfs' }, 'parameters fsType and fstype differ: "ext4" and "xfs"'],
  [
    { fsType: 'ext4', 'csi.storage.k8s.io/fstype': 'xfs' },
    'parameters fsType and csi.storage.k8s.io/fstype differ: "ext4" and "xfs"',
  ],
  [
    { mkfsOptions: '-m 0' },
    'parameter mkfsOptions of storage class fast: "-m 0" is not a JSON list',
  ],
  [{ mkfsOptions: '' }, 'parameter mkfsOptions of storage class fast: "" is not a JSON list'],
  [{ mkfsOptions: '{}' }, 'parameter mkfsOptions of storage class fast: {} is not a JSON list'],
  [
    { mkfsOptions: '["-U", "clear"]' },
    'parameter mkfsOptions of storage class fast: option "-U" is not allowed',
  ],
])('checkClass refuses %j', (parameters, problem) => {
  expect(checkClass(storageClass({ parameters }))).toEqual({
    problem: expect.stringContaining(problem),
  });
});

import { describe, expect, test } from '@jest/globals';
import { missing, typeOf, type VolumeFlags, volumesOf } from '../../../src/cli/volume/manifest.ts';

const BOTH: VolumeFlags = { node: { names: ['n1'], many: false }, storageClass: 'fast' };

describe('flags become a Volume', () => {
  test.each<[VolumeFlags, object]>([
    [{ size: '1Gi' }, { sparseLoopDevice: { size: '1Gi' } }],
    [
      { type: 'sparse', size: '1Gi', directory: '/srv' },
      { sparseLoopDevice: { size: '1Gi', directory: '/srv' } },
    ],
    [{ device: '/dev/sdb' }, { rawBlockDevice: { devicePath: '/dev/sdb' } }],
    [
      { type: 'raw', device: '/dev/sdb1', overwrite: 'ext4', mode: 'Block', onDelete: 'Wipe' },
      { rawBlockDevice: { devicePath: '/dev/sdb1' }, overwrite: 'ext4', mode: 'Block', onDelete: 'Wipe' },
    ],
    [
      { size: '1Gi', mode: 'Filesystem', onDelete: 'Retain' },
      { sparseLoopDevice: { size: '1Gi' }, mode: 'Filesystem', onDelete: 'Retain' },
    ],
  ])('%j', (flags, spec) => {
    expect(missing('data1', { ...BOTH, ...flags })).toEqual([]);
    expect(volumesOf('data1', { ...BOTH, ...flags })).toEqual([
      {
        apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
        kind: 'Volume',
        metadata: { name: 'data1' },
        spec: { nodeName: 'n1', storageClassName: 'fast', ...spec },
      },
    ]);
  });
});

describe('contradictions name both flags', () => {
  test.each<[VolumeFlags, string]>([
    [{ size: '1Gi', device: '/dev/sdb' }, '--size and --device contradict'],
    [{ directory: '/srv', device: '/dev/sdb' }, '--directory and --device contradict'],
    [{ size: '1Gi', overwrite: 'ext4' }, '--size and --overwrite contradict'],
    [{ type: 'sparse', device: '/dev/sdb' }, '--type sparse and --device contradict'],
    [{ type: 'sparse', overwrite: 'ext4' }, '--type sparse and --overwrite contradict'],
    [{ type: 'raw', size: '1Gi' }, '--type raw and --size contradict'],
    [{ type: 'raw', directory: '/srv' }, '--type raw and --directory contradict'],
    [
      { type: 'lvm', size: '1Gi' },
      '--type lvm: logical volumes are not supported by this version of stowage',
    ],
    [{ vg: 'vg0', size: '1Gi' }, '--vg: logical volumes are not supported by this version of stowage'],
  ])('%j', (flags, message) => {
    expect(() => typeOf(flags)).toThrow(message);
  });
});

describe('what is missing', () => {
  test.each<[VolumeFlags, string[]]>([
    [{}, ['--node', '--size or --device', '--storage-class']],
    [{ ...BOTH }, ['--size or --device']],
    [{ ...BOTH, directory: '/srv' }, ['--size']],
    [{ ...BOTH, type: 'sparse' }, ['--size']],
    [{ ...BOTH, type: 'raw' }, ['--device']],
    [{ ...BOTH, overwrite: 'ext4' }, ['--device']],
  ])('%j', (flags, wanted) => {
    expect(missing('data1', flags)).toEqual(wanted);
  });
});

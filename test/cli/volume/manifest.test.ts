import { describe, expect, test } from '@jest/globals';
import { typeOf, type VolumeFlags, volumesOf } from '../../../src/cli/volume/manifest.ts';
import { lacking } from '../../../src/cli/volume/wizard.ts';

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
      {
        rawBlockDevice: { devicePath: '/dev/sdb1' },
        overwrite: 'ext4',
        mode: 'Block',
        onDelete: 'Wipe',
      },
    ],
    [
      { size: '1Gi', directory: '/srv', requireMount: true },
      { sparseLoopDevice: { size: '1Gi', directory: '/srv', requireMount: true } },
    ],
    [{ vg: 'vg0', size: '1Gi' }, { lvmLogicalVolume: { vgName: 'vg0', size: '1Gi' } }],
    [
      { type: 'lvm', vg: 'vg0', size: '1Gi', thinPool: 'pool', overwrite: 'ext4:x' },
      { lvmLogicalVolume: { vgName: 'vg0', size: '1Gi', thinPool: 'pool' }, overwrite: 'ext4:x' },
    ],
    [
      { size: '1Gi', mode: 'Filesystem', onDelete: 'Retain' },
      { sparseLoopDevice: { size: '1Gi' }, mode: 'Filesystem', onDelete: 'Retain' },
    ],
  ])('%j', (flags, spec) => {
    expect(lacking({ name: 'data1', ...BOTH, ...flags })).toEqual([]);
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
    [{ directory: '/srv', overwrite: 'ext4' }, '--directory and --overwrite contradict'],
    [{ type: 'sparse', device: '/dev/sdb' }, '--type sparse and --device contradict'],
    [{ type: 'sparse', overwrite: 'ext4' }, '--type sparse and --overwrite contradict'],
    [{ type: 'raw', size: '1Gi' }, '--type raw and --size contradict'],
    [{ type: 'raw', directory: '/srv' }, '--type raw and --directory contradict'],
    [{ type: 'lvm', device: '/dev/sdb' }, '--type lvm and --device contradict'],
    [{ type: 'sparse', vg: 'vg0' }, '--type sparse and --vg contradict'],
    [{ vg: 'vg0', requireMount: true }, '--require-mount and --vg contradict'],
    [{ vg: 'vg0', directory: '/srv' }, '--directory and --vg contradict'],
    [{ thinPool: 'p', device: '/dev/sdb' }, '--device and --thin-pool contradict'],
  ])('%j', (flags, message) => {
    expect(() => typeOf(flags)).toThrow(message);
  });
});

describe('missing flags', () => {
  test.each<[VolumeFlags, string[]]>([
    [{}, ['--node', '--size or --device or --vg', '--storage-class']],
    [{ ...BOTH }, ['--size or --device or --vg']],
    [{ ...BOTH, directory: '/srv' }, ['--size']],
    [{ ...BOTH, type: 'sparse' }, ['--size']],
    [{ ...BOTH, type: 'raw' }, ['--device']],
    [{ ...BOTH, overwrite: 'ext4' }, ['--device']],
    [{ ...BOTH, type: 'lvm' }, ['--vg', '--size']],
    [{ ...BOTH, thinPool: 'pool' }, ['--vg', '--size']],
    [{ ...BOTH, size: '1Gi', overwrite: 'ext4' }, ['--vg']],
  ])('are listed for %j', (flags, wanted) => {
    expect(lacking({ name: 'data1', ...flags })).toEqual(wanted);
  });
});

import { describe, expect, test } from '@jest/globals';
import { validateVolume } from '../../src/api/validate-volume.ts';
import type { Volume } from '../../src/api/volume.ts';

/** With other fields in the spec than the type checker allows, as the API server does. */
const volume = (spec: object): Volume => ({
  apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
  kind: 'Volume',
  metadata: { name: 'data1' },
  spec: { nodeName: 'n1', storageClassName: 'fast', sparseLoopDevice: { size: '1Gi' }, ...spec },
});
const sparse = (sparseLoopDevice: object) => volume({ sparseLoopDevice });

describe('validateVolume', () => {
  test.each<[string, Volume]>([
    ['the least there is', volume({})],
    ['a MetalK8s template', volume({ template: { metadata: { labels: { app: 'db' } }, spec: {} } })],
    ['the defaults, spelt out', volume({ mode: 'Filesystem', attachPolicy: 'Always', onDelete: 'Delete' })],
    ['a node with dots', volume({ nodeName: 'node-1.example.com' })],
    ['a size in bytes', sparse({ size: 1073741824 })],
    ['a folder', sparse({ size: '1Gi', directory: '/srv/my volumes/..a' })],
    ['the longest folder', sparse({ size: '1Gi', directory: `/${'a'.repeat(1023)}` })],
    ['the largest size', sparse({ size: '9223372036854771712' })],
  ])('takes %s', (_, valid) => {
    expect(validateVolume(valid)).toEqual([]);
  });

  test.each<[string, Volume]>([
    ['no type', volume({ sparseLoopDevice: undefined })],
    ['an unknown type', volume({ sparseLoopDevice: undefined, tapeDevice: { size: '1Gi' } })],
    ['a type of null', volume({ sparseLoopDevice: null })],
  ])('%s has the message that MetalK8s gives', (_, invalid) => {
    expect(validateVolume(invalid)).toEqual(['volume type not found in Volume Spec']);
  });

  test('two types', () => {
    expect(validateVolume(volume({ rawBlockDevice: { devicePath: '/dev/sdb' } }))).toContain(
      'spec has sparseLoopDevice and rawBlockDevice, but a Volume has one type',
    );
  });

  test('a known type and an unknown one', () => {
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
    ['8Ei', 'no file is larger than 9223372036854771712 bytes'],
    ['9223372036854771713', 'no file is larger than 9223372036854771712 bytes'],
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

  test.each<[object, string]>([
    [{ sparseLoopDevice: undefined, rawBlockDevice: { devicePath: '/dev/sdb' } }, 'rawBlockDevice'],
    [{ sparseLoopDevice: undefined, lvmLogicalVolume: { vgName: 'vg', size: '1Gi' } }, 'lvmLogicalVolume'],
    [{ mode: 'Block' }, 'mode Block'],
    [{ attachPolicy: 'OnDemand' }, 'attachPolicy OnDemand'],
    [{ attachableNodes: [] }, 'attachableNodes'],
    [{ source: {} }, 'source'],
    [{ overwrite: '' }, 'overwrite'],
    [{ onDelete: 'Retain' }, 'onDelete Retain'],
    [{ onDelete: 'Wipe' }, 'onDelete Wipe'],
  ])('%j is not supported yet', (spec, what) => {
    expect(validateVolume(volume(spec))).toEqual([
      `spec.${what} is not supported by this version of stowage`,
    ]);
  });

  test('reports all problems at once', () => {
    expect(
      validateVolume(volume({ nodeName: '', mode: 'Block', sparseLoopDevice: { size: 0 } })),
    ).toHaveLength(3);
  });
});

import { expect, test } from '@jest/globals';
import type { Volume, VolumeSpec } from '../../../../src/api/volume.ts';
import { judgeResize } from '../../../../src/cli/volume/resize/judge-resize.ts';
import { volumeNamed } from '../../../support/volumes.ts';

const GIVEN = volumeNamed('a');
const NONE = { sparseLoopDevice: undefined } as unknown as Partial<VolumeSpec>;

const volume = (spec: Partial<VolumeSpec> = {}, metadata = {}): Volume => ({
  ...GIVEN,
  metadata: { ...GIVEN.metadata, ...metadata },
  spec: { ...GIVEN.spec, ...spec },
});
const file = (size: string | number) => volume({ sparseLoopDevice: { size } });

test.each<[string, Volume, string, 'larger' | 'unchanged', string]>([
  ['a larger file', file('1Gi'), '2Gi', 'larger', 'sparseLoopDevice'],
  ['a file that is one byte larger', file(1024), '1025', 'larger', 'sparseLoopDevice'],
  ['the same size', file('1Gi'), '1Gi', 'unchanged', 'sparseLoopDevice'],
  ['the same size in another spelling', file('1Gi'), '1024Mi', 'unchanged', 'sparseLoopDevice'],
  [
    'a larger logical volume',
    volume({ ...NONE, lvmLogicalVolume: { vgName: 'vg0', size: '1Gi' } }),
    '1.5Gi',
    'larger',
    'lvmLogicalVolume',
  ],
  [
    'a file that one of several nodes writes',
    volume({ attachableNodes: ['n1', 'n2'] }),
    '2Gi',
    'larger',
    'sparseLoopDevice',
  ],
])('accepts %s', (_, given, size, is, field) => {
  expect(judgeResize(given, size)).toEqual({ is, field });
});

test.each<[string, Volume, string, string, string]>([
  [
    'a Volume that is being deleted',
    volume({}, { deletionTimestamp: '2030-01-01T00:00:00Z' }),
    '2Gi',
    'it is being deleted',
    'See its progress: stowage get volume a -o wide',
  ],
  [
    'a smaller size',
    file('1Gi'),
    '1023Mi',
    'its size is 1Gi, and a Volume never shrinks to 1023Mi',
    'Create a smaller Volume, and copy the data.',
  ],
  [
    'a disk',
    volume({ ...NONE, rawBlockDevice: { devicePath: '/dev/sdb' } }),
    '2Gi',
    'a raw device has the size of its device',
    'Create a Volume on a larger device, and copy the data.',
  ],
  [
    'a Volume of several kinds',
    volume({ rawBlockDevice: { devicePath: '/dev/sdb' } }),
    '2Gi',
    'its spec must name one kind of storage',
    'Delete the Volume, and create it again.',
  ],
  [
    'a Volume of no kind',
    volume(NONE),
    '2Gi',
    'its spec must name one kind of storage',
    'Delete the Volume, and create it again.',
  ],
  [
    'a Volume whose size is invalid',
    file('much'),
    '2Gi',
    'spec.sparseLoopDevice.size is "much", but must be a quantity of bytes such as 10Gi',
    'Delete the Volume, and create it again.',
  ],
  [
    'a Volume that several nodes read',
    volume({
      attachableNodes: ['n1', 'n2'],
      template: { spec: { accessModes: ['ReadOnlyMany'] } },
    }),
    '2Gi',
    'several nodes attach it read-only, and a read-only device is not expanded',
    'Create a larger Volume from the same source.',
  ],
])('refuses %s', (_, given, size, why, hint) => {
  expect(judgeResize(given, size)).toEqual({ is: 'refused', why, hint });
});

import { describe, expect, test } from '@jest/globals';
import { reason, shownAs } from '../../../src/api/reasons.ts';
import { directoryRecord } from '../../../src/storage/directory/directory-record.ts';
import {
  compareFileSystems,
  refuseAway,
  refuseDirectory,
} from '../../../src/storage/directory/refuse.ts';
import type { FileSystemPlace, ObservedDirectory } from '../../../src/storage/directory/types.ts';

const data: FileSystemPlace = { uuid: 'b-17', type: 'ext4', source: '/dev/sdb1', path: '/volumes' };
const { uuid: _, ...unnamed } = data;
const nfs: FileSystemPlace = { type: 'nfs4', source: 'files:/export', path: '/volumes' };
const root: FileSystemPlace = {
  uuid: 'a-2',
  type: 'ext4',
  source: '/dev/sda2',
  path: '/data/volumes',
};

test.each<[string, FileSystemPlace, FileSystemPlace, string]>([
  ['the same', data, data, 'same'],
  ['another name of the device', data, { ...data, source: '/dev/sdc1' }, 'same'],
  ['ext3 that became ext4', { ...data, type: 'ext3' }, data, 'same'],
  ['another UUID, on a device with the same name', data, { ...data, uuid: 'b-18' }, 'different'],
  ['the root file system', data, root, 'different'],
  ['another directory of that file system', data, { ...data, path: '/' }, 'different'],
  ['the UUID cannot be read now', data, unnamed, 'unknown'],
  [
    'the UUID cannot be read now, and the type differs',
    data,
    { ...unnamed, type: 'xfs' },
    'different',
  ],
  ['the UUID could not be read when it was recorded', unnamed, data, 'same'],
  [
    'the UUID could not be read when it was recorded, and the source differs',
    unnamed,
    { ...data, source: '/dev/sdc1' },
    'different',
  ],
  ['NFS', nfs, nfs, 'same'],
  ['another export', nfs, { ...nfs, source: 'files:/other' }, 'different'],
  ['another type', nfs, { ...nfs, type: 'tmpfs' }, 'different'],
])('compareFileSystems: %s', (_, recorded, now, found) => {
  expect(compareFileSystems(recorded, now)).toBe(found);
});

describe('a volume directory', () => {
  const observed = (more: Partial<ObservedDirectory>): ObservedDirectory => ({
    directory: '/data/volumes',
    realPath: '/data/volumes',
    now: data,
    recorded: data,
    device: '8:17',
    mountPoint: '/data',
    isRoot: false,
    ...more,
  });
  const unmounted = { now: root, mountPoint: '/', isRoot: true };

  test('is refused with both file systems and a fix while not mounted', () => {
    expect(refuseAway(observed(unmounted))).toEqual({
      refusal:
        'the file system of /data/volumes is not mounted: its volumes are in /volumes on ext4 b-17, but the directory leads to /data/volumes on ext4 a-2, mounted at /',
      hint: expect.stringMatching(
        /^Mount it on the node\..* remove the record on the node: rm \/var\/lib\/stowage\/directories\/[0-9a-f]{32}$/,
      ),
      retryable: true,
      reason: reason('DirectoryNotMounted', {
        directory: '/data/volumes',
        recorded: '/volumes on ext4 b-17',
        found: '/data/volumes on ext4 a-2',
        mountPoint: '/',
        record: directoryRecord('/data/volumes'),
      }),
    });
  });

  test('is refused with a note if its UUID cannot be read', () => {
    expect(refuseAway(observed({ now: unnamed }))?.refusal).toMatch(/whose UUID cannot be read$/);
  });

  test.each<[string, Partial<ObservedDirectory>, boolean | undefined, RegExp | undefined]>([
    ['mounted', {}, undefined, undefined],
    ['mounted, as required', {}, true, undefined],
    ['without a record', { recorded: undefined }, undefined, undefined],
    ['without a record, mounted, as required', { recorded: undefined }, true, undefined],
    [
      'without a record, on the root file system',
      { ...unmounted, recorded: undefined },
      undefined,
      undefined,
    ],
    ['recorded on the root file system', { ...unmounted, recorded: root }, undefined, undefined],
    [
      'without a record, on the root file system despite requireMount',
      { ...unmounted, recorded: undefined },
      true,
      /^\/data\/volumes is on the root file system, and requireMount is set$/,
    ],
    [
      'recorded on the root file system, despite requireMount',
      { ...unmounted, recorded: root },
      true,
      /^\/data\/volumes is on the root file system/,
    ],
    ['not mounted', unmounted, undefined, /is not mounted/],
    ['not mounted, despite requireMount', unmounted, true, /is not mounted/],
  ])('is accepted only if mounted as required: %s', (_, more, requireMount, refusal) => {
    const found = refuseDirectory(observed(more), requireMount);
    if (refusal === undefined) expect(found).toBeUndefined();
    else {
      expect(found).toMatchObject({ retryable: true });
      expect(shownAs(found?.reason)).toBe('DirectoryNotMounted');
      expect(found?.refusal).toMatch(refusal);
    }
  });

  test.each([
    ['/etc/cron.d', '/etc/cron.d is in /etc, which must not contain volumes'],
    ['/data/volumes', undefined],
    ['/usr', '/data/volumes (/usr) is in /usr, which must not contain volumes'],
    [
      '/var/lib/kubelet/pods',
      '/data/volumes (/var/lib/kubelet/pods) is in /var/lib/kubelet, which must not',
    ],
    ['/usrlocal', undefined],
    ['/var/lib/stowage/volumes', undefined],
  ])('resolved to %s has this refusal: %s', (realPath, refusal) => {
    const directory = realPath === '/etc/cron.d' ? realPath : '/data/volumes';
    const found = refuseDirectory(observed({ directory, realPath }), undefined);
    if (refusal === undefined) expect(found).toBeUndefined();
    else {
      expect(found?.refusal).toContain(refusal);
      expect(found?.reason?.code).toBe('SystemDirectory');
    }
  });
});

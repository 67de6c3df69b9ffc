import { describe, expect, test } from '@jest/globals';
import { refuse } from '../../../src/api/reasons.ts';
import type { ProbeResult } from '../../../src/nodes/job.ts';
import { readDirectory } from '../../../src/storage/directory/observe.ts';
import { ObservationError } from '../../../src/storage/probe-results.ts';
import { missing, result } from '../../support/fake-executor.ts';

const DIRECTORY = '/data/volumes';
const ROOT = '24 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw';
const mounted = (mount: string) => `${ROOT}\n${mount}`;
const DATA = '36 24 8:17 / /data rw - ext4 /dev/sdb1 rw';
/** Output of `findmnt -r`: a device may have several mounts, and many mounts have no UUID. */
const UUIDS = '0:5 \n8:2 aaaa-2\n8:17 bbbb-17\n0:40 cccc-40\n8:17 bbbb-17\n';

function read(mounts: string, { record = missing, uuids = UUIDS, path = DIRECTORY } = {}) {
  const answers: Record<string, ProbeResult> = {
    directory: record,
    mounts: result(0, mounts),
    'file systems': result(0, uuids),
  };
  return readDirectory(DIRECTORY, path, (name) => answers[name] as ProbeResult);
}

describe('the file system of a directory', () => {
  const onRoot = { uuid: 'aaaa-2', type: 'ext4', source: '/dev/sda2' };
  const data = { uuid: 'bbbb-17', type: 'ext4', source: '/dev/sdb1' };
  test.each<[name: string, mounts: string, place: object, isRoot: boolean]>([
    ['mounted above it', mounted(DATA), { ...data, path: '/volumes' }, false],
    [
      'mounted at it',
      mounted(DATA.replace(' /data ', ' /data/volumes ')),
      { ...data, path: '/' },
      false,
    ],
    ['not mounted', ROOT, { ...onRoot, path: '/data/volumes' }, true],
    [
      'mounted at a directory with a similar name',
      mounted(DATA.replace(' /data ', ' /data/vol ')),
      { ...onRoot, path: '/data/volumes' },
      true,
    ],
    [
      'a bind mount of a directory of the root file system',
      mounted('36 24 8:2 /export/my\\040data /data rw - ext4 /dev/sda2 rw'),
      { ...onRoot, path: '/export/my data/volumes' },
      true,
    ],
    [
      'a subvolume of btrfs',
      mounted('36 24 0:40 /@data /data rw - btrfs /dev/sdb1 rw,subvol=/@data'),
      { uuid: 'cccc-40', type: 'btrfs', source: '/dev/sdb1', path: '/@data/volumes' },
      false,
    ],
    [
      'NFS, which has no UUID',
      mounted('36 24 0:52 / /data rw - nfs4 files:/export rw,hard'),
      { type: 'nfs4', source: 'files:/export', path: '/volumes' },
      false,
    ],
    [
      'an automount that mounted nothing',
      mounted('36 24 0:33 / /data rw - autofs systemd-1 rw'),
      { type: 'autofs', source: 'systemd-1', path: '/volumes' },
      false,
    ],
    [
      'an automount that mounted it',
      mounted(`35 24 0:33 / /data rw - autofs systemd-1 rw\n${DATA.replace('36 24', '36 35')}`),
      { ...data, path: '/volumes' },
      false,
    ],
    [
      'hidden by a later mount above it',
      mounted(
        `${DATA.replace(' /data ', ' /data/volumes ')}\n37 24 0:44 / /data rw - tmpfs tmpfs rw,size=1M`,
      ),
      { type: 'tmpfs', source: 'tmpfs', path: '/volumes' },
      false,
    ],
  ])('is identified: %s', (_, mounts, place, isRoot) => {
    expect(read(mounts)).toMatchObject({
      directory: DIRECTORY,
      now: place,
      isRoot,
      recorded: undefined,
    });
    expect(Object.keys(read(mounts).now).sort()).toEqual(Object.keys(place).sort());
  });

  test('is that of a symbolic link’s target', () => {
    expect(read(mounted(DATA), { path: '/data/other' }).now.path).toBe('/other');
  });

  test('has no UUID if findmnt lists none', () => {
    expect(read(mounted(DATA), { uuids: '8:17 \n8:1 x\n' }).now).toEqual({
      type: 'ext4',
      source: '/dev/sdb1',
      path: '/volumes',
    });
  });

  test('cannot be identified without a mount', () => {
    expect(() => read('')).toThrow(
      new ObservationError(refuse('MountNotListed', { folder: '/data/volumes' })),
    );
  });
});

describe('the record of a directory', () => {
  const place = { type: 'nfs4', source: 'files:/export', path: '/volumes' };
  const record = (more: object) =>
    result(0, `${JSON.stringify({ version: 1, directory: DIRECTORY, ...place, ...more })}\n`);

  test.each([
    ['with a UUID', { uuid: 'bbbb-17' }],
    ['without a UUID', {}],
  ])('is read %s', (_, more) => {
    expect(read(ROOT, { record: record(more) }).recorded).toEqual({ ...place, ...more });
  });

  test.each([
    ['empty', result(0, '')],
    ['cut off', result(0, '{"version":1,')],
    ['of a later version', record({ version: 2 })],
    ['without a path', record({ path: undefined })],
    ['with a UUID that is not a string', record({ uuid: 7 })],
    ['no object', result(0, 'null')],
  ])('is damaged, not missing, if it is %s', (_, damaged) => {
    expect(() => read(ROOT, { record: damaged })).toThrow(
      /the directory record \/var\/lib\/stowage\/directories\/[0-9a-f]{32} is damaged/,
    );
  });

  test('causes an error if it cannot be read', () => {
    expect(() => read(ROOT, { record: result(1, '', 'cat: X: Input/output error') })).toThrow(
      'Input/output error',
    );
  });
});

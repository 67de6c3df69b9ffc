import { expect, test } from '@jest/globals';
import { mountOf, refuseMount } from '../../../src/storage/shared-fs/mount.ts';

const ROOT = '22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw';
const nfs = (
  options: string,
  { point = '/srv/v', type = 'nfs4', own = 'rw,relatime', optional = ' shared:7' } = {},
) => `97 22 0:52 / ${point} ${own}${optional} - ${type} files:/export/v ${options}`;
const GOOD =
  'rw,vers=4.2,rsize=1048576,hard,proto=tcp,timeo=600,retrans=2,sec=sys,local_lock=none,addr=10.0.0.1';
const WANTED = ': it must be on an NFS 4 mount with the options rw, hard and local_lock=none';

test.each<[name: string, lines: string[], refusal: string | undefined]>([
  ['mounted as required', [ROOT, nfs(GOOD)], undefined],
  ['without optional fields', [nfs(GOOD, { optional: '' }), ROOT], undefined],
  ['mounted at its parent directory', [ROOT, nfs(GOOD, { point: '/srv' })], undefined],
  ['not mounted', [ROOT], `/srv/v is on /, which is of type ext4${WANTED}`],
  [
    'another directory with a similar name',
    [ROOT, nfs(GOOD, { point: '/srv/v2' })],
    `/srv/v is on /, which is of type ext4${WANTED}`,
  ],
  [
    'something mounted over it',
    [ROOT, nfs(GOOD), '99 97 0:60 / /srv/v rw - tmpfs tmpfs rw'],
    `/srv/v is on /srv/v, which is of type tmpfs${WANTED}`,
  ],
  [
    'NFS 3',
    [ROOT, nfs(GOOD.replace('4.2', '3'), { type: 'nfs' })],
    `/srv/v is on /srv/v, which is of type nfs${WANTED}`,
  ],
  [
    'soft',
    [nfs(GOOD.replace('hard', 'soft'))],
    `/srv/v is on /srv/v, which is mounted soft${WANTED}`,
  ],
  [
    'softerr',
    [nfs(GOOD.replace('hard', 'softerr'))],
    `/srv/v is on /srv/v, which is mounted softerr${WANTED}`,
  ],
  [
    'neither hard nor soft',
    [nfs(GOOD.replace('hard,', ''))],
    `/srv/v is on /srv/v, which is mounted without hard${WANTED}`,
  ],
  [
    'local flock locks',
    [nfs(GOOD.replace('=none', '=flock'))],
    `/srv/v is on /srv/v, which is mounted local_lock=flock${WANTED}`,
  ],
  [
    'local locks of all types',
    [nfs(GOOD.replace('=none', '=all'))],
    `/srv/v is on /srv/v, which is mounted local_lock=all${WANTED}`,
  ],
  [
    'no lock option',
    [nfs(GOOD.replace('local_lock=none,', ''))],
    `/srv/v is on /srv/v, which is mounted without local_lock=none${WANTED}`,
  ],
  [
    'read-only',
    [nfs(GOOD.replace('rw,', 'ro,'))],
    `/srv/v is on /srv/v, which is mounted ro${WANTED}`,
  ],
  [
    'read-only at this mount point only',
    [nfs(GOOD, { own: 'ro,relatime' })],
    `/srv/v is on /srv/v, which is mounted ro${WANTED}`,
  ],
  ['no mount at all', [''], `/srv/v is not on a mount that the node lists${WANTED}`],
  [
    'garbage',
    ['x', '1 2 3 4', '22 1 8:1 / / rw -'],
    `/srv/v is not on a mount that the node lists${WANTED}`,
  ],
])('refuseMount accepts or refuses a shared directory: %s', (_, lines, refusal) => {
  expect(refuseMount('/srv/v', mountOf('/srv/v', lines.join('\n')))?.refusal).toBe(refusal);
});

test('mountOf decodes octal escapes of mount points', () => {
  expect(mountOf('/srv/a b', `${ROOT}\n${nfs(GOOD, { point: '/srv/a\\040b' })}`)).toMatchObject({
    point: '/srv/a b',
  });
});

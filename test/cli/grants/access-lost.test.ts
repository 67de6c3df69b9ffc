import { expect, test } from '@jest/globals';
import { accessLost } from '../../../src/cli/grants/access-lost.ts';
import { FROM_CLAIMS, FROM_LINKS, grantNamed, TO_BACKUP } from '../../support/snapshots.ts';

const CLAIM = { group: '', kind: 'PersistentVolumeClaim', name: 'foo' };
const OTHERS = { ...FROM_CLAIMS, namespace: 'stage' };
const grant = grantNamed('bar', { from: [FROM_CLAIMS, FROM_LINKS], to: [TO_BACKUP] });

test.each([
  [
    'other grants are unknown',
    grant,
    undefined,
    [
      'namespace test loses access to VolumeSnapshot prod/foo-backup (claims, links), unless another grant allows it',
    ],
  ],
  [
    'the grant itself is listed',
    grant,
    [grant],
    ['namespace test loses access to VolumeSnapshot prod/foo-backup (claims, links)'],
  ],
  [
    'another grant allows the same',
    grant,
    [{ ...grant, metadata: { ...grant.metadata, name: 'b' } }],
    [],
  ],
  [
    'it has several namespaces and sources',
    grantNamed('bar', { from: [FROM_CLAIMS, OTHERS], to: [TO_BACKUP, CLAIM] }),
    [grantNamed('b', { from: [OTHERS], to: [CLAIM] })],
    [
      'namespace test loses access to VolumeSnapshot prod/foo-backup (claims) and PersistentVolumeClaim prod/foo (claims)',
      'namespace stage loses access to VolumeSnapshot prod/foo-backup (claims)',
    ],
  ],
])('a revoked grant names what is lost if %s', (_, revoked, others, lost) => {
  expect(accessLost(revoked, others)).toEqual(lost);
});

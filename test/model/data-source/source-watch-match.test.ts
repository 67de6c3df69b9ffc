import { expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/api/meta.ts';
import { mayEnd } from '../../../src/model/data-source/source-watch-match.ts';
import type { Awaited } from '../../../src/model/data-source/types.ts';
import {
  FROM_CLAIMS,
  FROM_LINKS,
  grantNamed,
  LINK,
  SNAPSHOT,
  TO_BACKUP,
} from '../../support/snapshots.ts';

const GRANT: Awaited = {
  kind: 'ReferenceGrant',
  namespace: 'prod',
  reference: { from: FROM_CLAIMS, to: { ...TO_BACKUP, namespace: 'prod' } },
};
const BACKUP: Awaited = { kind: 'VolumeSnapshot', namespace: 'prod', name: 'foo-backup' };
const grant = (from: object, to: object, metadata = {}) =>
  grantNamed('g', { from: [from], to: [to] }, metadata);

test.each<[string, Awaited, Awaited['kind'], KubeObject, boolean]>([
  ['a grant that allows it', GRANT, 'ReferenceGrant', grant(FROM_CLAIMS, TO_BACKUP), true],
  ['a grant for links alone', GRANT, 'ReferenceGrant', grant(FROM_LINKS, TO_BACKUP), false],
  [
    'a grant for another snapshot',
    GRANT,
    'ReferenceGrant',
    grant(FROM_CLAIMS, { ...TO_BACKUP, name: 'x' }),
    false,
  ],
  [
    'a grant in another namespace',
    GRANT,
    'ReferenceGrant',
    grant(FROM_CLAIMS, TO_BACKUP, { namespace: 'test' }),
    false,
  ],
  ['a grant without a spec', GRANT, 'ReferenceGrant', grantNamed('g', undefined as never), false],
  ['the snapshot', BACKUP, 'VolumeSnapshot', SNAPSHOT, true],
  [
    'another snapshot',
    BACKUP,
    'VolumeSnapshot',
    { ...SNAPSHOT, metadata: { ...SNAPSHOT.metadata, name: 'x' } },
    false,
  ],
  ['a link of its name', BACKUP, 'VolumeSnapshotLink', LINK, false],
])('mayEnd decides whether a change may end a wait: %s', (_, awaited, kind, object, expected) => {
  expect(mayEnd(awaited, kind, object)).toBe(expected);
});

import { expect, test } from '@jest/globals';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import { formatHandle, parseHandle } from '../../../src/api/snapshot-handle.ts';
import { placeFor } from '../../../src/controllers/snapshot/place.ts';
import type { Desired } from '../../../src/storage/registry.ts';
import { lvmDesired, thin } from '../../support/lvm-input.ts';
import { rawDesired } from '../../support/raw-input.ts';
import { snapshotted as sparse } from '../../support/snapshot-copy.ts';
import { CONTENT_UID } from '../../support/snapshot-objects.ts';

const at = (desired: Desired, nodes = ['n1']) => placeFor(desired, 'n1', nodes, CONTENT_UID);

test.each<[string, Desired, string[], string]>([
  [
    'a file is beside that file, on all its nodes',
    sparse,
    ['n1', 'n2'],
    `file:n1,n2:/var/lib/metalk8s/storage/sparse/snapshots/${CONTENT_UID}`,
  ],
  ['a thin volume is in its group', thin, ['n1'], `lvm:n1:vg0/snap-${CONTENT_UID}`],
])('the snapshot of %s, and its handle can be parsed', (_, desired, nodes, handle) => {
  const place = at(desired, nodes);
  if ('message' in place) throw new Error(place.message);
  expect(place.node).toBe('n1');
  expect(formatHandle(place.handle)).toBe(handle);
  expect(parseHandle(handle)).toEqual(place.handle);
});

test.each<[string, Desired, RegExp, ReasonCode]>([
  [
    'logical volume outside a thin pool',
    lvmDesired,
    /outside a thin pool.*of a class with a thinPool$/,
    'SnapshotsOfThickNone',
  ],
  ['raw device', rawDesired, /are not supported: it is a raw device/, 'SnapshotsOfKindNone'],
])('a %s has no snapshots, and the reason is reported', (_, desired, why, code) => {
  expect(at(desired)).toEqual({
    message: expect.stringMatching(why),
    detail: expect.objectContaining({ code }),
  });
});

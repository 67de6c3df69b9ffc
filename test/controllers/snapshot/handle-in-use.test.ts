import { expect, test } from '@jest/globals';
import type { VolumeSnapshotContent } from '../../../src/api/snapshot.ts';
import { parseHandle, type SnapshotHandle } from '../../../src/api/snapshot-handle.ts';
import { isOfAnother } from '../../../src/controllers/snapshot/handle-in-use.ts';
import {
  CONTENT_UID,
  content,
  DELETED,
  HANDLE_TEXT,
  restore,
  volume,
} from '../../support/snapshot-objects.ts';

const THIN = `lvm:n1:vg0/snap-${CONTENT_UID}`;
const other = (snapshotHandle: string, metadata = {}, spec = {}): VolumeSnapshotContent =>
  content({
    metadata: { name: 'kept', uid: 'another', ...metadata },
    spec: { source: { snapshotHandle }, ...spec },
  });
const isTaken = (
  text: string,
  contents: readonly VolumeSnapshotContent[],
  more: Partial<Parameters<typeof isOfAnother>[2]> = {},
): boolean =>
  isOfAnother(content(), parseHandle(text) as SnapshotHandle, {
    contents: [content({ status: { snapshotHandle: text } }), ...contents],
    ...{ volumes: [volume()], restoresOf: () => [], ...more },
  });

test.each([
  ['file', HANDLE_TEXT],
  ['thin snapshot', THIN],
])('a %s is in use if another content or a Volume has it', (_, text) => {
  expect(isTaken(text, [])).toBe(false);
  expect(isTaken(text, [other(text)])).toBe(true);
  expect(isTaken(text, [other(text, {}, { driver: 'other.csi' })])).toBe(false);
  const going = other(text, { deletionTimestamp: DELETED });
  expect(isTaken(text, [going])).toBe(false);
  expect(isTaken(text, [going], { restoresOf: () => [restore()] })).toBe(true);
  // A handle written by a user can name a Volume's storage.
  expect(isTaken(text, [], { volumes: [volume({ uid: CONTENT_UID })] })).toBe(true);
});

test.each([
  [THIN, THIN.replace('n1', 'n2')],
  [THIN, THIN.replace('vg0', 'vg1')],
  [THIN, `${THIN.slice(0, -1)}7`],
  [THIN, HANDLE_TEXT],
  [HANDLE_TEXT, THIN],
  [HANDLE_TEXT, HANDLE_TEXT.replace('n1', 'n2')],
  [HANDLE_TEXT, HANDLE_TEXT.replace('sparse', 'other')],
  [HANDLE_TEXT, 'file:n1:/etc/shadow'],
])('%s is not in use by a content of %s', (text, of) => {
  expect(isTaken(text, [other(of)])).toBe(false);
});

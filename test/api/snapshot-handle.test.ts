import { expect, test } from '@jest/globals';
import { formatHandle, parseHandle, type SnapshotHandle } from '../../src/api/snapshot-handle.ts';

const UID = '3f1c0d52-7f0a-4c1e-9a53-0e3cf0a6b111';

test.each<[SnapshotHandle, string]>([
  [{ type: 'file', nodes: ['n1'], path: `/d/snapshots/${UID}` }, `file:n1:/d/snapshots/${UID}`],
  [
    { type: 'file', nodes: ['n1', 'n2'], path: `/a:b/snapshots/${UID}` },
    `file:n1,n2:/a:b/snapshots/${UID}`,
  ],
  [{ type: 'lvm', nodes: ['n1'], vgName: 'vg0', name: `snap-${UID}` }, `lvm:n1:vg0/snap-${UID}`],
])('formatHandle and parseHandle convert between %j and %s', (handle, text) => {
  expect(formatHandle(handle)).toBe(text);
  expect(parseHandle(text)).toEqual(handle);
});

test.each([
  ['', 'is neither file:NODES:PATH nor lvm:NODE:VG/LV'],
  ['disk:n1:/dev/sda', 'is neither'],
  [`file:N_1:/d/snapshots/${UID}`, '"N_1" is not a valid node name'],
  [`file::/d/snapshots/${UID}`, '"" is not a valid node name'],
  ['file:n1:/etc/shadow', 'the path must end in /snapshots/UID'],
  [`file:n1:/d/snapshots/../${UID}`, 'the path must'],
  [`file:n1:/d/${UID}`, 'the path must end in /snapshots/UID'],
  [`file:n1:d/snapshots/${UID}`, 'the path must be an absolute path'],
  [`file:n1:/d\n/snapshots/${UID}`, 'the path must have no control characters'],
  [`lvm:n1,n2:vg0/snap-${UID}`, 'a logical volume must have exactly one node'],
  ['lvm:n1:vg0/root', 'the part after the node must be VG/snap-UID'],
  [`lvm:n1:-v/snap-${UID}`, 'the part after the node must be VG/snap-UID'],
  [`lvm:n1:vg0/snap-${UID}/x`, 'the part after the node must be VG/snap-UID'],
])('parseHandle refuses %s', (text, problem) => {
  expect(parseHandle(text)).toEqual({ problem: expect.stringContaining(problem) });
});

import { expect, test } from '@jest/globals';
import { presenceOf } from '../../src/storage/device.ts';
import type { Desired, Observed } from '../../src/storage/registry.ts';
import { textOf } from '../../src/storage/shared-fs/text.ts';
import type { NodeHold, ObservedShared } from '../../src/storage/shared-fs/types.ts';
import type { DeviceFacts, ObservedSparse } from '../../src/storage/types.ts';
import { NFS, sharedDesired } from '../support/fake-shared.ts';
import { BY_UUID, LINK } from '../support/link-words.ts';
import { ext4, lvmDesired, lvmMade } from '../support/lvm-input.ts';
import { disk, rawDesired, rawMade } from '../support/raw-input.ts';
import {
  FILE,
  loop,
  loopRow,
  madeNode,
  readyNode,
  sparseDesired,
  UID,
} from '../support/volume-input.ts';

const BOOT = '00000000-0000-4000-8000-000000000001';
const quiet: ObservedShared = { bootId: BOOT, mount: NFS, owners: [], marks: [], unfinished: [] };
const by = (node: string, bootId = BOOT): NodeHold => ({ node, bootId, token: 't0' });
const owner = (is: 'held' | 'free', holder: NodeHold): Partial<ObservedShared> => ({
  owners: [{ number: 4, state: { is, by: holder }, text: textOf(is, holder), since: undefined }],
});
const mark = (node: string): Partial<ObservedShared> => ({
  marks: [{ path: `${FILE}.reader.${node}-t0`, node, by: by(node) }],
});
const seen = (
  shared: Partial<ObservedShared>,
  more: Partial<ObservedSparse> = {},
): ObservedSparse => ({
  ...madeNode,
  ...more,
  shared: { ...quiet, ...shared },
});
const there = { loops: [loop], link: '7:3' };
const filled: DeviceFacts = {
  ...disk,
  signature: { found: 'one', type: 'ext4', uuid: UID },
  content: `ext4:${UID}`,
};

test.each<[string, ObservedSparse, object]>([
  ['a file without a holder', seen({}), { is: 'detached' }],
  ['a released file', seen(owner('free', by('n1'))), { is: 'detached' }],
  ['a file held by another node', seen(owner('held', by('n2'))), { is: 'detached' }],
  ['a file read by another node', seen(mark('n2')), { is: 'detached' }],
  [
    'a file held for the node by an interrupted job',
    seen(owner('held', by('n1'))),
    { is: 'attached', safeToMount: false },
  ],
  [
    'a file held for the node before its reboot',
    seen(owner('held', by('n1', BOOT.replace('1', '2')))),
    { is: 'attached', safeToMount: false },
  ],
  [
    'a file with a reader mark of the node',
    seen(mark('n1')),
    { is: 'attached', safeToMount: false },
  ],
  [
    'an attached file held by the node',
    seen(owner('held', by('n1')), there),
    { is: 'attached', safeToMount: true },
  ],
  [
    'any file while the directory is not mounted',
    seen({ mount: { ...NFS, type: 'ext4' } }),
    {
      is: 'unknown',
      noDevice: true,
      message: expect.stringContaining('docs/shared-directories.md'),
    },
  ],
  [
    'a file whose device has another path',
    seen({}, { loops: [{ ...loop, backingFile: '/srv/.nfs000000000a' }], link: '7:3' }),
    { is: 'unknown', noDevice: true, message: expect.stringContaining('/srv/.nfs000000000a') },
  ],
  [
    'an attached file that another node took over',
    seen(owner('held', by('n2')), there),
    { is: 'attached', safeToMount: false },
  ],
])('presenceOf reports the attachment on a shared directory: %s', (_, observed, expected) => {
  expect(presenceOf(sharedDesired, observed)).toMatchObject(expected);
});

test('a node that no longer has the file is detached despite its record of an expansion', () => {
  const grew = seen(owner('held', by('n2')), {
    intent: undefined,
    done: { sizeBytes: 1n << 30n },
    recordFiles: true,
  });
  expect(presenceOf({ ...sharedDesired, recordedBytes: 1n << 30n }, grew)).toEqual({
    is: 'detached',
  });
});

const STRAY = 'leads to /dev/sdz';
const sdz = { ...loopRow, name: 'sdz', device: '9:9', type: 'disk' };
test.each<[string, Desired, Observed, object]>([
  [
    'an attached file is not safe to mount',
    sparseDesired,
    { ...readyNode, devices: [...readyNode.devices, sdz], link: '9:9' },
    {
      ...{ is: 'attached', safeToMount: false, readOnly: false, device: 'loop3' },
      message: `${LINK} ${STRAY}, not to the volume's device /dev/loop3`,
    },
  ],
  [
    'an attached file of an earlier version is not safe to mount',
    { ...sparseDesired, earlierLink: BY_UUID },
    { ...readyNode, devices: [...readyNode.devices, sdz], link: '9:9' },
    {
      ...{ is: 'attached', safeToMount: false },
      message: `${BY_UUID} ${STRAY}, not to the volume's device /dev/loop3`,
    },
  ],
  [
    'a file without a device is detached',
    sparseDesired,
    { ...madeNode, link: '9:9' },
    { is: 'detached' },
  ],
  ['a disk is detached', rawDesired, rawMade(filled, { link: '9:9' }), { is: 'detached' }],
  ['a logical volume is detached', lvmDesired, lvmMade(ext4, { link: '9:9' }), { is: 'detached' }],
])('while the path leads to another device, %s', (_, desired, observed, expected) => {
  expect(presenceOf(desired, observed)).toMatchObject(expected);
});

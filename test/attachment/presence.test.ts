import { expect, test } from '@jest/globals';
import { presence } from '../../src/attachment/presence.ts';
import { textOf } from '../../src/storage/shared/text.ts';
import type { Holder, ObservedShared } from '../../src/storage/shared/types.ts';
import type { ObservedSparse } from '../../src/storage/types.ts';
import { NFS, sharedDesired } from '../support/fake-shared.ts';
import { FILE, loop, madeNode } from '../support/volume-input.ts';

const BOOT = '00000000-0000-4000-8000-000000000001';
const quiet: ObservedShared = { bootId: BOOT, mount: NFS, owners: [], marks: [], unfinished: [] };
const by = (node: string, bootId = BOOT): Holder => ({ node, bootId, token: 't0' });
const owner = (is: 'held' | 'free', holder: Holder): Partial<ObservedShared> => ({
  owners: [{ number: 4, says: { is, by: holder }, text: textOf(is, holder), since: undefined }],
});
const mark = (node: string): Partial<ObservedShared> => ({
  marks: [{ path: `${FILE}.reader.${node}-t0`, node, by: by(node) }],
});
const seen = (shared: Partial<ObservedShared>, more: Partial<ObservedSparse> = {}): ObservedSparse => ({
  ...madeNode,
  ...more,
  shared: { ...quiet, ...shared },
});
const there = { loops: [loop], link: '7:3' };

test.each<[string, ObservedSparse, object]>([
  ['a file that nobody has', seen({}), { is: 'detached' }],
  ['a file that was let go of', seen(owner('free', by('n1'))), { is: 'detached' }],
  ['a file that another node has', seen(owner('held', by('n2'))), { is: 'detached' }],
  ['a file that another node reads', seen(mark('n2')), { is: 'detached' }],
  [
    'a file that is held for the node, by a job that did not come to its end',
    seen(owner('held', by('n1'))),
    { is: 'attached', safeToMount: false },
  ],
  [
    'a file that was held for the node before it was started anew',
    seen(owner('held', by('n1', BOOT.replace('1', '2')))),
    { is: 'attached', safeToMount: false },
  ],
  ['a file that the node is marked to read', seen(mark('n1')), { is: 'attached', safeToMount: false }],
  ['a file that the node has', seen(owner('held', by('n1')), there), { is: 'attached', safeToMount: true }],
  [
    'whatever the node has, while the directory is not mounted there',
    seen({ mount: { ...NFS, type: 'ext4' } }),
    { is: 'unknown', noDevice: true, message: expect.stringContaining('docs/shared-directories.md') },
  ],
  [
    'a file whose device has another path',
    seen({}, { loops: [{ ...loop, backingFile: '/srv/.nfs000000000a' }], link: '7:3' }),
    { is: 'unknown', noDevice: true, message: expect.stringContaining('/srv/.nfs000000000a') },
  ],
  [
    'a file that the node has, though another one took it over',
    seen(owner('held', by('n2')), there),
    { is: 'attached', safeToMount: false },
  ],
])('on a directory that nodes share: %s', (_, observed, expected) => {
  expect(presence(sharedDesired, observed)).toMatchObject(expected);
});

test('a record of having grown it is left by a node that has it no more', () => {
  const grew = seen(owner('held', by('n2')), {
    intent: undefined,
    done: { sizeBytes: 1n << 30n },
    recordFiles: true,
  });
  expect(presence({ ...sharedDesired, recordedBytes: 1n << 30n }, grew)).toEqual({ is: 'detached' });
});

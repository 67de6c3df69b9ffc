import { expect, test } from '@jest/globals';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import { presenceOf } from '../../../src/storage/device.ts';
import { plan } from '../../../src/storage/plan.ts';
import { readText, textOf } from '../../../src/storage/shared-fs/text.ts';
import type { ObservedShared } from '../../../src/storage/shared-fs/types.ts';
import type { DesiredSparse, ObservedSparse, VolumeOperation } from '../../../src/storage/types.ts';
import { NFS, QUIET, sharedDesired } from '../../support/fake-shared.ts';
import { reasonsOf } from '../../support/plans.ts';
import {
  FILE,
  freshNode,
  loop,
  madeNode,
  readyNode,
  sparseDesired,
} from '../../support/volume-input.ts';

const OLD = '11111111-2222-4333-8444-555555555555';
const by = (node: string) => ({ node, bootId: QUIET.bootId, token: 't0' });
const owned = (text: string): Partial<ObservedShared> => ({
  owners: [{ number: 4, state: readText(text), text, since: undefined }],
});
const held = (node: string) => owned(textOf('held', by(node)));
const free = owned(textOf('free', by('n2')));
const marked = { marks: [{ path: `${FILE}.reader.n2-t0`, node: 'n2', by: by('n2') }] };
const seen = (shared: Partial<ObservedShared>, node = madeNode): ObservedSparse => ({
  ...node,
  shared: { ...QUIET, ...shared },
});
const reader = { readOnly: true };

test.each<[ReasonCode, VolumeOperation, ObservedSparse, Partial<DesiredSparse>?]>([
  ['SharedMountMissing', 'attach', seen({ mount: undefined })],
  ['SharedMountUnfit', 'delete', seen({ mount: { ...NFS, type: 'ext4' } })],
  ['FileHeld', 'attach', seen(held('n2'))],
  ['FileRead', 'attach', seen(marked)],
  ['OwnerUnreadable', 'attach', seen(owned('x'))],
  ['LoopNotHeld', 'attach', seen(free, readyNode)],
  ['NodeStartedAnew', 'attach', seen(free)],
  ['OwnerFileChanged', 'attach', seen(free)],
  ['FileTakenOver', 'attach', seen(held('n1'), readyNode), { sizeBytes: 2n << 30n }],
  ['FileTakenByAnother', 'attach', seen(free)],
  ['FileReadByAnother', 'attach', seen(free)],
  ['ReaderMarkGone', 'attach', seen(free), reader],
])('%s is among the reasons on %s', (code, operation, observed, wanted = {}) => {
  expect(reasonsOf(plan(operation, { ...sharedDesired, ...wanted }, observed, 5))).toContain(code);
});

test.each<[ReasonCode, Partial<ObservedShared>]>([
  ['AdoptedFileHeld', held('n2')],
  ['AdoptedFileRead', marked],
  ['AdoptedFileOwnerUnreadable', owned('x')],
  ['AdoptedFileNameReturned', free],
])('%s is a reason to refuse an adoption', (code, beside) => {
  const earlierFile = {
    realPath: FILE.replace(/[^/]+$/, OLD),
    file: { type: 'file', sizeBytes: 1n << 30n, inode: '77' },
    signature: { found: 'one', type: 'ext4', uuid: OLD },
    beside: { owners: [], marks: [], unfinished: [], ...beside },
  } as const;
  const made = plan(
    'provision',
    { ...sparseDesired, adopt: OLD },
    { ...freshNode, earlierFile },
    5,
  );
  expect(reasonsOf(made)).toContain(code);
});

test.each<[ReasonCode, 'attached' | 'unknown', ObservedSparse]>([
  ['FileHeldWithoutDevice', 'attached', seen(held('n1'))],
  ['LoopNotHeld', 'attached', seen(held('n2'), readyNode)],
  [
    'LoopDetachPending',
    'unknown',
    seen(held('n1'), { ...readyNode, loops: [{ ...loop, autoclear: true }] }),
  ],
  ['SharedMountUnfit', 'unknown', seen({ mount: { ...NFS, type: 'ext4' } })],
])('presenceOf reports %s in the state %s', (code, is, observed) => {
  expect(presenceOf(sharedDesired, observed)).toMatchObject({ is, detail: { code } });
});

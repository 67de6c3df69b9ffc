import { expect, test } from '@jest/globals';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import { plan } from '../../../src/storage/plan.ts';
import { planSnapshot } from '../../../src/storage/snapshot/plan.ts';
import type { ObservedSnapshot } from '../../../src/storage/snapshot/types.ts';
import type {
  DesiredSparse,
  ObservedSparse,
  Source,
  SourceFacts,
} from '../../../src/storage/types.ts';
import { reasonsOf } from '../../support/plans.ts';
import {
  COPY,
  COPY_UID,
  restored,
  snapshotted,
  uncopied,
  wantedCopy,
} from '../../support/snapshot-copy.ts';
import { freshNode, loop, UID } from '../../support/volume-input.ts';

const file = { type: 'file', sizeBytes: 1n << 30n, inode: '9' } as const;
const used = { loops: [loop], mounts: new Map([['7:3', ['/mnt']]]) };
const gpt = { found: 'one', type: 'gpt', uuid: UID } as const;
const source = (parts: Partial<SourceFacts>) => ({ source: { ...uncopied.source, ...parts } });
const withVolume = (
  parts: Partial<ObservedSparse>,
  more: Partial<ObservedSnapshot> = {},
): ObservedSnapshot => ({ ...uncopied, ...more, volume: { ...uncopied.volume, ...parts } });

type Row = [ReasonCode, 'take' | 'delete', ObservedSnapshot, Partial<DesiredSparse>?];
test.each<Row>([
  ['SharedFileNotCopied', 'take', uncopied, { shared: true }],
  ['CopiedFileMissing', 'take', { ...uncopied, ...source({ file: { type: 'missing' } }) }],
  ['CopiedFileGrowing', 'take', withVolume({ done: { sizeBytes: 1n << 20n } })],
  ['CopiedFileInUse', 'take', withVolume({ loops: [loop], swaps: ['/dev/loop3'] })],
  ['CopiedFileInUse', 'take', withVolume({ kubeletFolders: ['/k/pods/1/volumes/x/data1'] })],
  ['FolderCannotClone', 'take', withVolume(used, source({ mayClone: false }))],
  ['CopiedFileWritten', 'take', uncopied],
  ['FileAppeared', 'take', uncopied],
  ['FileStillAttached', 'take', uncopied],
  ['FileUuidDiffers', 'take', uncopied],
  [
    'PartitionGuidDiffers',
    'take',
    withVolume({ signature: gpt }, source({ signature: gpt })),
    { mode: 'Block' },
  ],
  ['FileContentDiffers', 'take', { ...uncopied, copy: file }],
  ['NotPlainFile', 'delete', { ...uncopied, copy: { type: 'other' } }],
  [
    'LoopFileChanged',
    'delete',
    withVolume({ loops: [{ ...loop, backingFile: `${COPY}.partial` }] }, { partial: file }),
  ],
])('%s is among the reasons on %s of a snapshot', (code, operation, observed, more = {}) => {
  const wanted = { ...wantedCopy, volume: { ...snapshotted, ...more } };
  expect(reasonsOf(planSnapshot(operation, wanted, observed))).toContain(code);
});

const facts: SourceFacts = {
  realPath: COPY,
  file,
  signature: { found: 'one', type: 'ext4', uuid: COPY_UID },
  state: '1073741824|9|1.5',
  mayClone: true,
};
const ofTable = {
  mode: 'Block',
  fs: undefined,
  source: { ...(restored.source as Source), mode: 'Block' },
} as const;

test.each<[ReasonCode, Partial<DesiredSparse>, Partial<SourceFacts>]>([
  ['CopiedFileMissing', {}, { file: { type: 'missing' } }],
  ['CopiedFileDiffers', {}, { signature: { found: 'none' } }],
  ['CopiedFileModeDiffers', { mode: 'Block', fs: undefined }, {}],
  ['CopiedFileLarger', { sizeBytes: 1n << 29n }, {}],
  ['CopiedFileReplaced', {}, {}],
  ['CopiedFileWritten', {}, {}],
  ['PartitionElsewhere', ofTable, { signature: { found: 'one', type: 'gpt', uuid: COPY_UID } }],
])('%s is a reason not to restore from a copy', (code, desired, parts) => {
  const observed = { ...freshNode, realPath: restored.file, source: { ...facts, ...parts } };
  expect(reasonsOf(plan('provision', { ...restored, ...desired }, observed, 5))).toContain(code);
});

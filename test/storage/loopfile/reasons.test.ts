import { describe, expect, test } from '@jest/globals';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import { plan, planMetalk8sRecords } from '../../../src/storage/plan.ts';
import type { DesiredSparse, ObservedSparse, VolumeOperation } from '../../../src/storage/types.ts';
import { BY_UUID, LINK } from '../../support/link-words.ts';
import { reasonsOf } from '../../support/plans.ts';
import { FILE, freshNode, loop, loopRow, madeNode, readyNode } from '../../support/volume-input.ts';
import {
  attached,
  block,
  blockNode,
  desired,
  file,
  foreign,
  intended,
  otherIntent,
  readOnly,
} from './plan-cases.ts';

type Row = [ReasonCode, VolumeOperation, ObservedSparse, Partial<DesiredSparse>?];

const OLD = '11111111-2222-4333-8444-555555555555';
const EARLIER = FILE.replace(/[^/]+$/, OLD);
const larger = { sizeBytes: 2n << 30n };
const second = { ...loop, name: 'loop4' };
const gone = { type: 'missing' } as const;
const other = { ...loopRow, name: 'sdz', device: '65:16', type: 'disk' };
const stray = (node: ObservedSparse): ObservedSparse => ({
  ...node,
  devices: [...node.devices, other],
  link: other.device,
});

test.each<Row>([
  ['OtherFileOnRecord', 'provision', { ...intended, ...otherIntent({ file: '/x' }) }],
  ['VolumeMadeBefore', 'provision', { ...freshNode, earlier: ['0b1d.intent'] }, { once: true }],
  ['FileExists', 'provision', foreign],
  ['FileMadeMeanwhile', 'provision', freshNode],
  ['FileAppeared', 'provision', freshNode],
  ['UnfinishedFileChanged', 'provision', freshNode],
  ['MadeFileMissing', 'provision', { ...madeNode, file: gone }],
  ['BackingFileMissing', 'attach', freshNode],
  ['NotPlainFile', 'attach', { ...madeNode, file: { type: 'other' } }],
  ['FileContentDiffers', 'attach', { ...madeNode, signature: { found: 'none' } }],
  ['FileContentChanged', 'attach', madeNode],
  ['FileAttachedMeanwhile', 'attach', madeNode],
  ['FileReplaced', 'detach', readyNode],
  ['FileReplaced', 'delete', madeNode, { onDelete: 'Wipe' }],
  ['FileStillAttached', 'delete', madeNode],
  ['LoopAttachedTwice', 'attach', { ...readyNode, loops: [loop, second] }],
  ['LoopHasEarlierFile', 'attach', attached({ backingInode: '41' })],
  ['LoopFileMoved', 'attach', attached({ backingFile: '/srv/.nfs000000000a' })],
  ['LoopFileChanged', 'detach', readyNode],
  ['LoopFileChanged', 'attach', readyNode, larger],
  ['LoopDetachPending', 'attach', attached({ autoclear: true })],
  ['LoopOfPart', 'attach', attached({ wholeFile: false })],
  ['LoopReadOnly', 'attach', attached({ readOnly: true })],
  ['LoopWritable', 'attach', readyNode, readOnly],
  ['PartitionReplaced', 'attach', blockNode(), { ...block, ...larger }],
])('%s is among the reasons on %s', (code, operation, observed, wanted = {}) => {
  expect(reasonsOf(plan(operation, { ...desired, ...wanted }, observed, 5))).toContain(code);
});

test.each<[ReasonCode, object, ObservedSparse]>([
  ['PathAstray', { device: '/dev/loop3' }, readyNode],
  ['PathAstrayWithoutDevice', {}, madeNode],
])('%s is the reason of a path that leads to another device', (code, more, observed) => {
  expect(plan('attach', desired, stray(observed), 5)).toMatchObject({
    astray: expect.stringContaining(`${LINK} leads to /dev/sdz, `),
    reason: { code, parameters: { path: LINK, found: '/dev/sdz', ...more } },
  });
});

test('the hint for a replaced file suggests onDelete Delete instead of Wipe', () => {
  const hint = (wanted: Partial<DesiredSparse>) =>
    plan('attach', { ...desired, ...wanted }, attached({ backingInode: '41' }), 5);
  const given = 'delete the Volume if its data may be lost.';
  expect(hint({})).toMatchObject({ hint: expect.stringContaining(`Or ${given}`) });
  expect(hint({ onDelete: 'Wipe' })).toMatchObject({
    hint: expect.stringContaining(
      `Or set onDelete to Delete, as the data cannot be wiped there, and ${given}`,
    ),
  });
});

describe('the refusal of an adoption', () => {
  const found = (
    earlier: Partial<ObservedSparse['earlierFile']>,
    more: Partial<ObservedSparse> = {},
  ): ObservedSparse => ({
    ...freshNode,
    earlierFile: {
      realPath: EARLIER,
      file,
      signature: { found: 'one', type: 'ext4', uuid: OLD },
      beside: { owners: [], marks: [], unfinished: [] },
      ...earlier,
    },
    ...more,
  });
  const of = (type: string, uuid = OLD) => ({ signature: { found: 'one', type, uuid } as const });

  test.each<Row>([
    ['AdoptedFileMissing', 'provision', found({ file: gone })],
    ['AdoptedFilePathHasSpace', 'provision', found({}), { file: `/srv/my data/${OLD}` }],
    ['AdoptedFileIsSnapshot', 'provision', found({ realPath: `/srv/snapshots/${OLD}` })],
    ['AdoptedFileNameTaken', 'provision', found({}, { partial: file })],
    ['AdoptedFileForeign', 'provision', found(of('btrfs'))],
    ['AdoptedFileModeDiffers', 'provision', found(of('gpt'))],
    ['AdoptedFileUuidDiffers', 'provision', found(of('ext4', 'x'))],
    [
      'AdoptedFileTooSmall',
      'provision',
      found({ ...of('gpt'), file: { ...file, sizeBytes: 1n << 20n } }),
      block,
    ],
    ['AdoptedFileAttached', 'provision', found({}, { loops: [{ ...loop, backingFile: EARLIER }] })],
    [
      'AdoptedFileIsBack',
      'delete',
      found({}, { ...otherIntent({ adopt: OLD }), partial: file, recordFiles: true }),
    ],
  ])('has the reason %s on %s', (code, operation, observed, wanted = {}) => {
    const made = plan(operation, { ...desired, adopt: OLD, ...wanted }, observed, 5);
    expect(reasonsOf(made)).toEqual([code]);
  });
});

test.each<[ReasonCode, ObservedSparse, Partial<DesiredSparse>?]>([
  ['Metalk8sFileMissing', freshNode],
  ['Metalk8sFileLinkDiffers', { ...readyNode, link: undefined }],
  ['Metalk8sFileNotAttached', { ...blockNode(), loops: [], link: undefined }, block],
  ['Metalk8sFileUuidDiffers', readyNode],
  ['LoopFileChanged', blockNode(), block],
])('%s is a reason not to record a file that MetalK8s created', (code, observed, wanted = {}) => {
  const bare = { ...observed, intent: undefined, done: undefined, recordFiles: false };
  const made = { ...desired, earlierLink: BY_UUID, ...wanted };
  expect(reasonsOf(planMetalk8sRecords(made, bare))).toContain(code);
});

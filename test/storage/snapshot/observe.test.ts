import { expect, test } from '@jest/globals';
import type { ProbeResult } from '../../../src/nodes/job.ts';
import { readSparse, sparseProbes } from '../../../src/storage/loopfile/observe.ts';
import { ObservationError } from '../../../src/storage/probe-results.ts';
import { readSnapshot, snapshotProbes } from '../../../src/storage/snapshot/observe.ts';
import { COPY, COPY_UID, restored, uncopied, wantedCopy } from '../../support/snapshot-copy.ts';
import { FRESH, MADE, missing, result } from '../../support/sparse-answers.ts';

const UNCOPIED: Record<string, ProbeResult> = {
  ...MADE,
  'source state': result(0, '1073741824|42|2026-07-01 10:00:00.500000000 +0000\n'),
  'source kind': result(0, 'xfs\n'),
  copy: missing,
  'copy signature': result(2),
  'copy readable': result(1, '', "dd: failed to open 'X': No such file or directory"),
  'copy partial': missing,
  'copy partial path': result(0, `${COPY}.partial`),
  'copy freeze': result(1),
};
const COPIED: Record<string, ProbeResult> = {
  ...UNCOPIED,
  copy: result(0, 'regular file|1073741824|9|2048|512'),
  'copy signature': result(0, `UUID=${COPY_UID}\nTYPE=xfs`),
  'copy readable': result(0),
};
const read = (results: Record<string, ProbeResult>) =>
  readSnapshot(wantedCopy, new Map(Object.entries(results)));

test('the test data answers every probe', () => {
  expect(Object.keys(UNCOPIED).sort()).toEqual(
    snapshotProbes(wantedCopy)
      .map(({ name }) => name)
      .sort(),
  );
});

test('readSnapshot reads a volume without a copy, and with one', () => {
  expect(read(UNCOPIED)).toEqual(uncopied);
  expect(read(COPIED)).toEqual({
    ...uncopied,
    copy: { type: 'file', sizeBytes: 1n << 30n, inode: '9' },
    signature: { found: 'one', type: 'xfs', uuid: COPY_UID },
  });
});

test('readSnapshot reports the allocated bytes of an interrupted copy, not its size', () => {
  const partial = result(0, 'regular file|1073741824|9|2048|512');
  expect(read({ ...UNCOPIED, 'copy partial': partial })).toMatchObject({ partialBytes: 1n << 20n });
});

test('readSnapshot reports a freeze whose record is left', () => {
  expect(read({ ...UNCOPIED, 'copy freeze': result(0) })).toEqual({
    ...uncopied,
    freezeIsLeft: true,
  });
});

test('readSnapshot reads a missing volume in a missing directory', () => {
  const gone = { ...UNCOPIED, ...FRESH, 'source state': missing, 'source kind': missing };
  expect(read(gone).source).toMatchObject({
    file: { type: 'missing' },
    state: undefined,
    mayClone: true,
  });
});

test.each([
  ['xfs', true],
  ['btrfs', true],
  ['something new', true],
  ['ext2/ext3', false],
  ['tmpfs', false],
])('a directory on %s may clone: %s', (kind, mayClone) => {
  expect(read({ ...UNCOPIED, 'source kind': result(0, `${kind}\n`) }).source.mayClone).toBe(
    mayClone,
  );
});

test.each([
  ['source state', result(1, '', 'stat: X: Input/output error')],
  ['source state', result(0, '1073741824|42|2026-07-01 10:00:00 +0000')],
  ['source state', result(0, '1073741824|42|1795882045')],
  ['source kind', result(1, '', 'stat: X: Permission denied')],
  ['copy', result(1, '', 'stat: X: Input/output error')],
  ['copy partial path', result(1, '', 'readlink: X')],
  ['copy', result(127, '', 'stat: not found')],
])('readSnapshot throws on an inconclusive result of %s', (name, answer) => {
  expect(() => read({ ...UNCOPIED, [name]: answer })).toThrow(ObservationError);
  expect(() =>
    read({ ...COPIED, 'copy readable': result(1, '', 'dd: X: Input/output error') }),
  ).toThrow(ObservationError);
});

test('sparseProbes and readSparse cover the source of a volume, if it has one', () => {
  const probes = sparseProbes(restored);
  expect(probes.filter(({ argv }) => argv.includes(COPY)).map(({ name }) => name)).toEqual([
    ...['source path', 'source file', 'source signature', 'source state'],
  ]);
  expect(probes.find(({ name }) => name === 'source done')?.argv).toEqual([
    'cat',
    `/var/lib/stowage/volumes/${COPY_UID}.done`,
  ]);
  const { source: _, ...empty } = restored;
  expect(sparseProbes(empty).some(({ name }) => name.startsWith('source'))).toBe(false);
  const answers = {
    ...FRESH,
    'source path': result(0, COPY),
    'source file': result(0, 'regular file|1073741824|9|2048|512'),
    'source signature': result(0, `UUID=${COPY_UID}\nTYPE=ext4`),
    'source readable': result(0),
    'source done': missing,
    'source state': result(0, '1073741824|9|2026-07-01 10:00:00.500000000 +0000'),
    'source kind': result(0, 'ext2/ext3'),
  };
  const sourceOf = (more = {}) =>
    readSparse(restored, new Map(Object.entries({ ...answers, ...more }))).source;
  expect(sourceOf()).toEqual({
    realPath: COPY,
    file: { type: 'file', sizeBytes: 1n << 30n, inode: '9' },
    signature: { found: 'one', type: 'ext4', uuid: COPY_UID },
    state: '1073741824|9|2026-07-01 10:00:00.500000000 +0000',
    mayClone: false,
  });
  // The record of a source volume has its size, except for a record of an old version.
  expect(sourceOf({ 'source done': result(0, '536870912') })?.madeBytes).toBe(1n << 29n);
  expect(sourceOf({ 'source done': result(0) })?.madeBytes).toBeUndefined();
  expect(() => sourceOf({ 'source done': result(1, '', 'cat: X: Input/output error') })).toThrow(
    ObservationError,
  );
  expect(readSparse(empty, new Map(Object.entries(FRESH))).source).toBeUndefined();
});

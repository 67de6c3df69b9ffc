import { expect, test } from '@jest/globals';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import { freezeOf } from '../../../src/controllers/snapshot/snapshot-class.ts';
import { snapshotClass } from '../../support/snapshot-objects.ts';

const problem = (text: string, code: ReasonCode = 'SnapshotClassFreezeInvalid') => ({
  message: expect.stringContaining(text),
  detail: expect.objectContaining({ code }),
});

test.each<[string, Record<string, string> | undefined, object]>([
  ['no parameters', undefined, { seconds: 10, copy: false }],
  ['a frozen copy', { frozenCopySeconds: '120' }, { seconds: 120, copy: true }],
  ['the longest frozen copy', { frozenCopySeconds: '3600' }, { seconds: 3600, copy: true }],
  ['a frozen copy that is too long', { frozenCopySeconds: '3601' }, problem('from 1 to 3600')],
  ['an empty time', { frozenCopySeconds: '' }, problem('frozenCopySeconds is ""')],
  ['another unit', { frozenCopySeconds: '2m' }, problem('frozenCopySeconds is "2m"')],
  ['a part of a second', { frozenCopySeconds: '1.5' }, problem('frozenCopySeconds is "1.5"')],
  [
    'a misspelled parameter',
    { frozenCopySecond: '5' },
    problem('unknown parameter "frozenCopySecond"', 'SnapshotClassParameterUnknown'),
  ],
  [
    'a parameter of the sidecars',
    { 'csi.storage.k8s.io/snapshotter-secret-name': 'x' },
    { seconds: 10, copy: false },
  ],
])('the freeze parameters of a class with %s', (_, parameters, expected) => {
  expect(
    freezeOf(parameters === undefined ? undefined : snapshotClass('fast', { parameters })),
  ).toEqual(expected);
});

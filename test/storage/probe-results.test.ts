import { expect, test } from '@jest/globals';
import { reason } from '../../src/api/reasons.ts';
import { readContent } from '../../src/storage/lvm/content.ts';
import { answersOf, ObservationError, optional } from '../../src/storage/probe-results.ts';
import { parseIntent } from '../../src/storage/records.ts';
import { result } from '../support/fake-executor.ts';

const extents = { pv: '/dev/vdb', start: 0n, count: 1n, offset: 0n, bytes: 4096n };

test.each([
  [
    'an unanswered probe',
    () => answersOf(new Map())('loops'),
    reason('ProbeUnanswered', { probe: 'loops' }),
  ],
  [
    'a damaged record',
    () => parseIntent('{'),
    reason('RecordDamaged', { record: 'an intent record', text: '"{"' }),
  ],
  [
    'extents that blkid cannot read',
    () =>
      readContent([extents as never], (name) =>
        name.startsWith('blkid') ? result(4, '', 'denied') : result(0),
      ),
    reason('FreeExtentsUnread', { device: '/dev/vdb', said: 'denied' }),
  ],
])('an ObservationError has a reason for %s', (_, read, why) => {
  const thrown = (() => {
    try {
      return read();
    } catch (error) {
      return error;
    }
  })();
  expect(thrown).toBeInstanceOf(ObservationError);
  expect(thrown).toMatchObject({ reason: why });
});

/** Messages of GNU coreutils 9.1, uutils coreutils 0.0.17 and 0.0.30, busybox 1.35. */
test.each([
  ['GNU', "stat: cannot statx '/a': No such file or directory"],
  ['uutils', "stat: cannot stat '/a': No such file or directory (os error 2)"],
  ['busybox', "stat: can't stat '/a': No such file or directory"],
  [
    'uutils, two files',
    'cat: /a: No such file or directory (os error 2)\ncat: /b: No such file or directory (os error 2)\n',
  ],
])('a missing file is known as such: %s', (_, stderr) => {
  expect(optional('a', result(1, '', stderr))).toBeUndefined();
});

test.each([
  ['another error of GNU', "stat: cannot statx '/a': Input/output error"],
  ['another error of uutils', "stat: cannot stat '/a': Input/output error (os error 5)"],
  ['another number', "stat: cannot stat '/a': No such file or directory (os error 20)"],
  ['a name', "stat: cannot stat 'No such file or directory': Stale file handle"],
  ['one file of two', 'cat: /a: No such file or directory\ncat: /b: Permission denied'],
  [
    'a program that sudo-rs 0.2.15 did not find',
    "sudo: cannot execute '/usr/bin/cat': No such file or directory (os error 2)",
  ],
  [
    'a program that sudo-rs 0.2.5 did not find',
    "sudo-rs: cannot execute '/usr/bin/cat': No such file or directory (os error 2)",
  ],
  ['no message', ''],
])('no other failure counts as a missing file: %s', (_, stderr) => {
  expect(() => optional('a', result(1, '', stderr))).toThrow(ObservationError);
});

import { expect, test } from '@jest/globals';
import { reason } from '../../src/api/reasons.ts';
import { readContent } from '../../src/storage/lvm/content.ts';
import { answersOf, ObservationError } from '../../src/storage/probe-results.ts';
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

import { expect, test } from '@jest/globals';
import type { VolumeDetail } from '../../src/ui/protocol.ts';
import { timelineOf } from '../../src/ui/timeline.ts';

const at = (minute: number) => `2030-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`;

const detail = (more: Partial<VolumeDetail> = {}): VolumeDetail =>
  ({
    row: {
      created: at(1),
      attachments: [{ since: at(5), node: 'n1', state: 'Attached', device: 'loop3', message: '' }],
    },
    conditions: [{ since: at(4), type: 'Ready', status: 'True', reason: 'Ready', message: '' }],
    events: {
      found: [
        {
          ...{ last: at(3), first: at(2), type: 'Warning', reason: 'Busy', message: 'in use' },
          ...{ count: 3, from: 'stowage' },
        },
      ],
    },
    job: { name: 'Provision/DONE', attempt: 2, reported: at(4) },
    ...more,
  }) as VolumeDetail;

test('the timeline has events, conditions, attachments and the last job, the newest first', () => {
  const all = timelineOf(detail());
  expect(all.map(({ kind, title }) => `${kind}: ${title}`)).toEqual([
    'Attachment: Attached on n1',
    'Condition: Ready became True',
    'Job: Provision/DONE',
    'Event: Busy',
    'Volume: Created',
  ]);
  expect(all.map(({ isWarning }) => isWarning)).toEqual([false, false, false, true, false]);
  expect(all[2]?.message).toBe('attempt 2, the last one');
  expect(all[3]?.message).toMatch(/^in use \(3 times since /);
});

test('entries without a time are last, and events that may not be read are left out', () => {
  const { job: _, ...rest } = detail({ events: { missing: 'no' } });
  const conditions = [
    { since: '', type: 'Ready', status: 'Unknown', reason: 'New', message: 'not yet' },
  ];
  expect(timelineOf({ ...rest, conditions }).map(({ title, message }) => [title, message])).toEqual(
    [
      ['Attached on n1', 'loop3'],
      ['Created', ''],
      ['Ready became Unknown', 'New: not yet'],
    ],
  );
});

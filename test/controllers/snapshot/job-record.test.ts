import { expect, test } from '@jest/globals';
import {
  dueAt,
  formatNote,
  jobKeyOf,
  nextNote,
  noteOf,
} from '../../../src/controllers/snapshot/job-record.ts';
import { CONTENT_UID, content, HANDLE, note } from '../../support/snapshot-objects.ts';
import { NOW, UID } from '../../support/volume-input.ts';

const written = (text: string) =>
  content({ metadata: { annotations: { 'stowage.dev/snapshot-job': text } } });

test('a job record is read as it was written', () => {
  const whole = note({ do: 'delete', attempt: 7, tries: 2 });
  expect(noteOf(written(formatNote(whole)))).toEqual(whole);
  expect(jobKeyOf(content(), whole)).toEqual({ subject: UID, id: `snapshot-${CONTENT_UID}-7` });
});

test.each([
  ['empty', ''],
  ['no JSON', '{'],
  ['no object', 'null'],
  ...(
    [
      ['do', 'format'],
      ['volume', '../x'],
      ['volume', '-x'],
      ['node', '-oProxyCommand=x'],
      ['node', null],
      ['handle', 'file:n1:/etc/shadow'],
      ['attempt', 0],
      ['attempt', 1.5],
      ['tries', '1'],
    ] as const
  ).map(([field, value]): [string, string] => [
    `${field} ${value}`,
    JSON.stringify({ ...JSON.parse(formatNote(note())), [field]: value }),
  ]),
])('a job record that Stowage cannot have written is ignored: %s', (_, text) => {
  expect(noteOf(written(text))).toBeUndefined();
});

test('a job record counts all attempts, and the tries of the same operation', () => {
  const take = { do: 'take', volume: UID, node: 'n1', handle: HANDLE } as const;
  const remove = { ...take, do: 'delete' } as const;
  const first = nextNote(undefined, take, NOW);
  const second = nextNote(first, take, NOW);
  const third = nextNote(second, remove, NOW);
  expect([first, second, third].map(({ attempt, tries }) => [attempt, tries])).toEqual([
    [1, 1],
    [2, 2],
    [3, 1],
  ]);
});

test.each([
  ['the first at once', 1, NOW, 0],
  ['the second after 1 s', 2, NOW - 100, NOW + 900],
  ['later ones after twice as long each time', 5, NOW, NOW + 8000],
  ['after 5 min at most', 30, NOW, NOW + 300_000],
  ['at once if a clock that is ahead wrote the record', 9, NOW + 1, 0],
])('a job is due: %s', (_, tries, at, expected) => {
  expect(dueAt(note({ tries, at }), NOW)).toBe(expected);
});

import { expect, test } from '@jest/globals';
import type { Volume } from '../../src/api/volume.ts';
import type { Outcome } from '../../src/attachment/attacher.ts';
import { change, failureOf, type Known } from '../../src/attachment/known.ts';
import { settle } from '../../src/attachment/settle.ts';
import type { Entry, OperationKind } from '../../src/attachment/types.ts';

const knownWith = (entries: readonly Entry[]): Known => ({
  uid: 'u1',
  name: 'v1',
  volume: {} as Volume,
  entries,
  unseen: new Set(['n1', 'n2']),
  failures: new Map(),
  told: new Map(),
  lives: new Map(),
  heeded: undefined,
  written: new Set(),
  blocked: new Map(),
  unmade: false,
  wanted: 0,
});
const entry = (state: Entry['state']): Entry[] => change([], 'n1', { state }, 100);
const attached: Outcome = { is: 'attached', readOnly: false, safeToMount: true, message: undefined };

const cases: [
  string,
  OperationKind,
  Entry[],
  Outcome,
  object[],
  { unseen: boolean; fails: OperationKind[] },
][] = [
  [
    'an attach that succeeded',
    'attach',
    entry('Attaching'),
    attached,
    [{ state: 'Attached', safeToMount: true, since: 200 }],
    { unseen: false, fails: [] },
  ],
  [
    'an attach whose link is not there yet is tried again',
    'attach',
    entry('Attaching'),
    { ...attached, safeToMount: false, message: 'no link' },
    [{ state: 'Attached', safeToMount: false, message: 'no link' }],
    { unseen: false, fails: ['attach'] },
  ],
  [
    'an attach that failed and left nothing',
    'attach',
    entry('Attaching'),
    { is: 'failed', message: 'the file is missing' },
    [],
    { unseen: true, fails: ['attach'] },
  ],
  [
    'an attach of which nothing is known counts as attached, and is looked at later',
    'attach',
    entry('Attaching'),
    { is: 'unknown', message: 'no answer' },
    [{ state: 'Uncertain', message: 'no answer' }],
    { unseen: true, fails: ['attach', 'look'] },
  ],
  [
    'a detach that succeeded',
    'detach',
    entry('Detaching'),
    { is: 'detached' },
    [],
    { unseen: false, fails: [] },
  ],
  [
    'a detach of what is in use leaves it attached',
    'detach',
    entry('Detaching'),
    { is: 'in-use', message: 'mounted at /x' },
    [{ state: 'Attached', safeToDetach: false, message: 'mounted at /x' }],
    { unseen: false, fails: ['detach'] },
  ],
  [
    'a detach after which it is still there',
    'detach',
    entry('Detaching'),
    attached,
    [{ state: 'Attached' }],
    { unseen: false, fails: ['detach'] },
  ],
  [
    'a look that finds a device that no record has',
    'look',
    [],
    attached,
    [{ node: 'n1', state: 'Attached' }],
    { unseen: false, fails: [] },
  ],
  [
    'a look that finds none',
    'look',
    entry('Uncertain'),
    { is: 'detached' },
    [],
    { unseen: false, fails: [] },
  ],
  [
    'a look at a recorded node that does not answer',
    'look',
    entry('Uncertain'),
    { is: 'unknown', message: 'away' },
    [{ state: 'Uncertain', message: 'away' }],
    { unseen: true, fails: ['look'] },
  ],
  [
    'a look at a node without a record that does not answer holds nobody up',
    'look',
    [],
    { is: 'unknown', message: 'away' },
    [],
    { unseen: true, fails: ['look'] },
  ],
];

test.each(cases)('%s', (_, kind, entries, outcome, after, { unseen, fails }) => {
  const known = knownWith(entries);
  settle(known, { kind, node: 'n1', readOnly: false }, outcome, 200, 0);
  expect(known.entries).toEqual(after.map((each) => expect.objectContaining(each)));
  expect(known.unseen.has('n1')).toBe(unseen);
  expect((['attach', 'detach', 'look'] as const).filter((each) => failureOf(known, each, 'n1'))).toEqual(
    fails,
  );
  // The other node is another matter.
  expect(known.unseen.has('n2')).toBe(true);
});

test('each failure in a row doubles the wait, up to a bound, and a success ends the row', () => {
  const known = knownWith([]);
  const waits = Array.from({ length: 12 }, () => {
    settle(known, { kind: 'attach', node: 'n1', readOnly: false }, { is: 'failed', message: 'x' }, 0, 0);
    return failureOf(known, 'attach', 'n1')?.until;
  });
  expect(waits.slice(0, 4)).toEqual([500, 1000, 2000, 4000]);
  expect(waits.at(-1)).toBe(122_000);
  settle(known, { kind: 'attach', node: 'n1', readOnly: false }, attached, 0, 0);
  settle(known, { kind: 'attach', node: 'n1', readOnly: false }, { is: 'failed', message: 'x' }, 0, 0);
  expect(failureOf(known, 'attach', 'n1')?.until).toBe(500);
});

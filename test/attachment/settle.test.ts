import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../src/api/volume.ts';
import { change } from '../../src/attachment/actual.ts';
import type { Outcome } from '../../src/attachment/attacher.ts';
import { failureOf, type Known } from '../../src/attachment/known.ts';
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
const entry = (state: Entry['state']): readonly Entry[] => change([], 'n1', { state }, 100);
const attached: Outcome = {
  is: 'attached',
  readOnly: false,
  safeToMount: true,
  device: 'loop1',
  message: undefined,
};

const cases: [
  string,
  OperationKind,
  readonly Entry[],
  Outcome,
  object[],
  { unseen: boolean; fails: OperationKind[] },
][] = [
  [
    'an attach that succeeded',
    'attach',
    entry('Attaching'),
    attached,
    [{ state: 'Attached', safeToMount: true, device: 'loop1', since: 200 }],
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
    'an attach that did nothing, of what nothing was known of, holds nobody up',
    'attach',
    entry('Attaching'),
    { is: 'unknown', message: 'away', nothingDone: true },
    [],
    { unseen: true, fails: ['attach', 'look'] },
  ],
  [
    'a detach that did nothing leaves it attached for all that is known',
    'detach',
    entry('Detaching'),
    { is: 'unknown', message: 'away', nothingDone: true },
    [{ state: 'Uncertain', message: 'away' }],
    { unseen: true, fails: ['detach', 'look'] },
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

const still: Outcome = { ...attached, safeToMount: false, message: 'attached more than once' };
const away: Outcome = { is: 'unknown', message: 'the job cannot be started' };
const gone: Outcome = { is: 'detached' };

test.each<[string, [OperationKind, Outcome][], OperationKind]>([
  ['attach to what is there, but not as it should be', [['attach', still]], 'attach'],
  [
    'attach, though each look finds nothing',
    [
      ['attach', away],
      ['look', gone],
    ],
    'attach',
  ],
  ['detach', [['detach', attached]], 'detach'],
  [
    'detach, though each look finds it',
    [
      ['detach', away],
      ['look', attached],
    ],
    'detach',
  ],
])('waits longer each time that it fails to %s', (_, round, kind) => {
  const known = knownWith([]);
  const waits = [1, 2, 3].map(() => {
    for (const [each, outcome] of round) {
      settle(known, { kind: each, node: 'n1', readOnly: false }, outcome, 0, 0);
    }
    return failureOf(known, kind, 'n1')?.until;
  });
  expect(waits).toEqual([500, 1000, 2000]);
});

test('a look that finds it as it should be ends the row of failed attaches', () => {
  const known = knownWith([]);
  settle(known, { kind: 'attach', node: 'n1', readOnly: false }, away, 0, 0);
  settle(known, { kind: 'look', node: 'n1', readOnly: false }, attached, 0, 0);
  expect(failureOf(known, 'attach', 'n1')).toBeUndefined();
});

test.each(['Attached', 'Attaching', 'Uncertain'] as const)(
  'an attach that did nothing where the node was %s before leaves that uncertain',
  (state) => {
    const [was] = entry(state);
    const known = knownWith(change(entry(state), 'n1', { state: 'Attaching' }, 150));
    const outcome: Outcome = { is: 'unknown', message: 'away', nothingDone: true };
    settle(known, { kind: 'attach', node: 'n1', readOnly: false }, outcome, 200, 0, was);
    expect(known.entries).toMatchObject([{ node: 'n1', state: 'Uncertain', message: 'away' }]);
  },
);

test('a node that was seen without it is to be looked at again, where an attach did nothing', () => {
  const known = { ...knownWith(entry('Attaching')), unseen: new Set<string>() };
  const outcome: Outcome = { is: 'unknown', message: 'away', nothingDone: true };
  settle(known, { kind: 'attach', node: 'n1', readOnly: false }, outcome, 200, 0);
  expect([...known.unseen]).toEqual(['n1']);
});

test('what is in use can be mounted as before', () => {
  const was = { ...(entry('Attached')[0] as Entry), safeToMount: true };
  const known = knownWith(change([was], 'n1', { state: 'Detaching' }, 150));
  const outcome: Outcome = { is: 'in-use', message: 'mounted at /x' };
  settle(known, { kind: 'detach', node: 'n1', readOnly: false }, outcome, 200, 0, was);
  expect(known.entries[0]).toMatchObject({ state: 'Attached', safeToMount: true });
});

test.each<[string, OperationKind, Outcome]>([
  ['a detach of what is in use', 'detach', { is: 'in-use', message: 'mounted at /x' }],
  ['an attach that changed nothing', 'attach', still],
])('%s leaves since when it is attached', (_, kind, outcome) => {
  const [was] = entry('Attached');
  const state = kind === 'attach' ? 'Attaching' : 'Detaching';
  const known = knownWith(change(was === undefined ? [] : [was], 'n1', { state }, 150));
  settle(known, { kind, node: 'n1', readOnly: false }, outcome, 200, 0, was);
  expect(known.entries[0]).toMatchObject({ state: 'Attached', since: 100 });
});

test.each<[string, readonly Entry[], string[]]>([
  ['that nothing is known of is looked at again', [], ['n2']],
  ['of which it is known is let go of first', change([], 'n2', { state: 'Attached' }, 100), []],
])('a node with the file %s', (_, entries, unseen) => {
  const volume = { spec: { attachableNodes: ['n1', 'n2'] } } as Volume;
  const known = { ...knownWith(entries), volume, unseen: new Set<string>() };
  const outcome: Outcome = { is: 'failed', message: 'held by node n2', heldBy: ['n2', 'no-node-of-it'] };
  settle(known, { kind: 'attach', node: 'n1', readOnly: false }, outcome, 0, 0);
  expect([...known.unseen]).toEqual(unseen);
});

test.each<[string, readonly Entry[], number]>([
  ['that is not known to have it, more and more rarely', [], 600_000],
  ['that may have it, each minute', entry('Uncertain'), 60_000],
])('a node without the mount is looked at again: one %s', (_, entries, atMost) => {
  const known = knownWith(entries);
  const unfit: Outcome = { is: 'unknown', message: 'not mounted', noDevice: true };
  for (let times = 0; times < 20; times++) {
    settle(known, { kind: 'look', node: 'n1', readOnly: false }, unfit, 0, 0);
  }
  expect(failureOf(known, 'look', 'n1')?.until).toBe(atMost);
  expect(known.unseen.has('n1')).toBe(true);
  expect(known.entries.map(({ state }) => state)).toEqual(entries.map(() => 'Uncertain'));
});

describe('what is said of a node that does not answer', () => {
  const silent = (message: string): Outcome => ({ is: 'unknown', message, nothingDone: true, silent: true });
  const clear: Outcome = { is: 'unknown', message: 'not mounted', nothingDone: true };
  const said = (kind: OperationKind, ...outcomes: [at: number, outcome: Outcome][]) => {
    const known = knownWith(entry('Uncertain'));
    for (const [at, outcome] of outcomes)
      settle(known, { kind, node: 'n1', readOnly: false }, outcome, at, 0);
    return {
      shown: known.entries[0]?.message,
      failed: failureOf(known, kind, 'n1')?.message,
    };
  };
  const MINUTE = 60_000;

  test.each<[string, [number, Outcome][], string]>([
    ['stands for what else is said of that', [[9 * MINUTE, silent('no route')]], 'timed out'],
    [
      'does so for ten minutes from when it was said, however often it was kept',
      [
        [9 * MINUTE, silent('no route')],
        [10 * MINUTE, silent('no route')],
      ],
      'no route',
    ],
    ['does not stand for what one says that answers', [[1000, clear]], 'not mounted'],
    [
      'is said anew once it has answered',
      [
        [1000, clear],
        [2000, silent('no route')],
      ],
      'no route',
    ],
    [
      'is said anew once it was found',
      [
        [1000, attached],
        [2000, silent('no route')],
      ],
      'no route',
    ],
  ])('%s', (_, later, message) => {
    expect(said('look', [0, silent('timed out')], ...later)).toEqual({ shown: message, failed: message });
  });

  test('is told of an attach in the same words, too', () => {
    const words = said('attach', [0, silent('timed out')], [1000, silent('no route')]);
    expect(words.failed).toBe('timed out');
  });

  test('is another matter on each node', () => {
    const known = knownWith([]);
    settle(known, { kind: 'look', node: 'n1', readOnly: false }, silent('timed out'), 0, 0);
    settle(known, { kind: 'look', node: 'n2', readOnly: false }, silent('no route'), 0, 0);
    expect(failureOf(known, 'look', 'n2')?.message).toBe('no route');
  });
});

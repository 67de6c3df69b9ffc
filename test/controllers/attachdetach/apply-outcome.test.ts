import { describe, expect, test } from '@jest/globals';
import { explain, type Reason } from '../../../src/api/reasons.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { change } from '../../../src/controllers/attachdetach/actual-state.ts';
import { applyOutcome } from '../../../src/controllers/attachdetach/apply-outcome.ts';
import type { Outcome } from '../../../src/controllers/attachdetach/attacher-detacher.ts';
import type {
  AttachmentOperationKind,
  NodeAttachment,
} from '../../../src/controllers/attachdetach/types.ts';
import {
  failureOf,
  forgetFailures,
  type VolumeState,
} from '../../../src/controllers/attachdetach/volume-state.ts';
import { knownOf } from '../../support/attachment-view.ts';

const clockAt = (ms: number) => ({ now: () => ms, timeOfDay: () => ms });

const knownWith = (entries: readonly NodeAttachment[]) =>
  knownOf({ entries, unverifiedNodes: new Set(['n1', 'n2']) });
const entry = (state: NodeAttachment['state']): readonly NodeAttachment[] =>
  change([], 'n1', { state }, 100);
const attached: Outcome = {
  is: 'attached',
  readOnly: false,
  safeToMount: true,
  device: 'loop1',
  message: undefined,
};
const still: Outcome = { ...attached, safeToMount: false, message: 'attached more than once' };
const inUse: Outcome = { is: 'in-use', message: 'mounted at /x' };
const detached: Outcome = { is: 'detached' };
const failed: Outcome = { is: 'failed', message: 'x' };
const unknown: Outcome = { is: 'unknown', message: 'away' };
const nothing: Outcome = { ...unknown, nothingDone: true };
const operation = (kind: AttachmentOperationKind, node = 'n1') => ({ kind, node, readOnly: false });
const [ATTACHING, DETACHING, UNCERTAIN] = [
  entry('Attaching'),
  entry('Detaching'),
  entry('Uncertain'),
];
/** Expected entry of a node that may have the volume attached. */
const MAYBE = [{ state: 'Uncertain', message: 'away' }];
const MADE = [{ state: 'Attached', safeToMount: true, device: 'loop1', since: 200 }];
const HALF = [{ state: 'Attached', safeToMount: false, message: 'attached more than once' }];
const USED = [{ state: 'Attached', safeToDetach: false, message: 'mounted at /x' }];

type Case = [
  name: string,
  AttachmentOperationKind,
  Outcome,
  before: readonly NodeAttachment[],
  after: object[],
  fails: string,
];

describe('applyOutcome', () => {
  test.each<Case>([
    ['an attach that succeeded', 'attach', attached, ATTACHING, MADE, ''],
    ['an attach whose link is missing is retried', 'attach', still, ATTACHING, HALF, 'attach'],
    ['a detach that succeeded', 'detach', detached, DETACHING, [], ''],
    ['a detach of a device in use', 'detach', inUse, DETACHING, USED, 'detach'],
    [
      'a detach that leaves the device attached',
      'detach',
      attached,
      DETACHING,
      [{ state: 'Attached' }],
      'detach',
    ],
    ['an unrecorded device', 'verify', attached, [], [{ node: 'n1', state: 'Attached' }], ''],
    ['a recorded device that is missing', 'verify', detached, UNCERTAIN, [], ''],
  ])('records the entry of a verified node: %s', (_, kind, outcome, before, after, fails) => {
    expect(settled(kind, outcome, before)).toEqual({
      entries: matching(after),
      unseen: false,
      fails,
    });
  });

  test.each<Case>([
    ['an attach that failed leaves nothing', 'attach', failed, ATTACHING, [], 'attach'],
    [
      'an attach without an answer counts as attached',
      'attach',
      unknown,
      ATTACHING,
      MAYBE,
      'attach verify',
    ],
    [
      'an attach that did nothing blocks no other node',
      'attach',
      nothing,
      ATTACHING,
      [],
      'attach verify',
    ],
    [
      'a detach that did nothing leaves it attached',
      'detach',
      nothing,
      DETACHING,
      MAYBE,
      'detach verify',
    ],
    ['a recorded node without an answer', 'verify', unknown, UNCERTAIN, MAYBE, 'verify'],
    ['a silent node without a record blocks no other node', 'verify', unknown, [], [], 'verify'],
  ])('leaves the node to be verified again: %s', (_, kind, outcome, before, after, fails) => {
    expect(settled(kind, outcome, before)).toEqual({
      entries: matching(after),
      unseen: true,
      fails,
    });
  });

  const matching = (entries: object[]) => entries.map((each) => expect.objectContaining(each));
  function settled(
    kind: AttachmentOperationKind,
    outcome: Outcome,
    before: readonly NodeAttachment[],
  ) {
    const known = knownWith(before);
    applyOutcome(known, operation(kind), outcome, clockAt(200), 0);
    // The other node is not affected.
    expect(known.unverifiedNodes.has('n2')).toBe(true);
    const kinds = ['attach', 'detach', 'verify'] as const;
    const fails = kinds.filter((each) => failureOf(known, each, 'n1')).join(' ');
    return { entries: known.entries, unseen: known.unverifiedNodes.has('n1'), fails };
  }
});

describe('the reason of an outcome', () => {
  const why = explain('JobStillRuns', { node: 'n1' });
  const still = explain('StillAttached');
  test.each<[AttachmentOperationKind, Outcome, Reason | undefined, Reason | undefined]>([
    ['detach', { is: 'in-use', ...why }, why.detail, why.detail],
    ['attach', { is: 'failed', ...why }, undefined, why.detail],
    ['attach', { ...attached, safeToMount: false, ...why }, why.detail, why.detail],
    ['detach', attached, undefined, still.detail],
    ['detach', { is: 'unknown', ...why }, why.detail, why.detail],
    ['verify', { is: 'unknown', ...why }, why.detail, why.detail],
    ['verify', { is: 'unknown', message: 'away' }, undefined, undefined],
  ])('is recorded with its message for %s: %j', (kind, outcome, shown, failedFor) => {
    const earlier = explain('OperationUnderWay', { step: 'x' });
    const known = knownWith(change(entry('Uncertain'), 'n1', earlier, 150));
    applyOutcome(known, operation(kind), outcome, clockAt(200), 0);
    expect(known.entries[0]?.detail).toEqual(shown);
    expect(failureOf(known, kind, 'n1')?.detail).toEqual(failedFor);
  });

  test('is kept with the first message while the node does not answer', () => {
    const known = knownWith(entry('Uncertain'));
    const silent = { is: 'unknown', silent: true } as const;
    applyOutcome(known, operation('verify'), { ...silent, ...why }, clockAt(0), 0);
    applyOutcome(known, operation('verify'), { ...silent, message: 'no route' }, clockAt(1000), 0);
    expect(known.entries[0]).toMatchObject(why);
    expect(Object.keys(known.entries[0] ?? {})).not.toContain('until');
  });
});

test('consecutive failures double the delay up to a limit, and a success resets it', () => {
  const known = knownWith([]);
  const waits = Array.from({ length: 12 }, () => {
    applyOutcome(known, operation('attach'), failed, clockAt(0), 0);
    return failureOf(known, 'attach', 'n1')?.until;
  });
  expect(waits.slice(0, 4)).toEqual([500, 1000, 2000, 4000]);
  expect(waits.at(-1)).toBe(122_000);
  applyOutcome(known, operation('attach'), attached, clockAt(0), 0);
  applyOutcome(known, operation('attach'), failed, clockAt(0), 0);
  expect(failureOf(known, 'attach', 'n1')?.until).toBe(500);
});

test.each<[string, [AttachmentOperationKind, Outcome][], AttachmentOperationKind]>([
  ['make an attached device safe to mount', [['attach', still]], 'attach'],
  [
    'attach, though each verification finds no device',
    [
      ['attach', unknown],
      ['verify', detached],
    ],
    'attach',
  ],
  ['detach', [['detach', attached]], 'detach'],
  [
    'detach, though each verification finds the device',
    [
      ['detach', unknown],
      ['verify', attached],
    ],
    'detach',
  ],
])('the delay doubles each time that it fails to %s', (_, round, kind) => {
  const known = knownWith([]);
  const waits = [1, 2, 3].map(() => {
    for (const [each, outcome] of round) {
      applyOutcome(known, operation(each), outcome, clockAt(0), 0);
    }
    return failureOf(known, kind, 'n1')?.until;
  });
  expect(waits).toEqual([500, 1000, 2000]);
});

describe('a verification that finds the device as expected', () => {
  const inUse = explain('JobStillRuns', { node: 'n1' });
  function lookedAfter(outcome: Outcome, between?: (known: VolumeState) => void) {
    const known = knownWith(entry('Attached'));
    applyOutcome(known, operation('detach'), outcome, clockAt(150), 0, known.entries[0]);
    between?.(known);
    applyOutcome(known, operation('verify'), attached, clockAt(200), 0, known.entries[0]);
    return known.entries[0];
  }

  test('keeps the reason for which a detach was refused', () => {
    expect(lookedAfter({ is: 'in-use', ...inUse })).toMatchObject({ state: 'Attached', ...inUse });
  });

  test.each<[string, Outcome, (known: VolumeState) => void]>([
    ['about a node that did not answer', { is: 'unknown', ...inUse }, () => {}],
    [
      'set after the detach',
      { is: 'in-use', ...inUse },
      (known) => {
        const why = explain('OperationUnderWay', { step: 'x' });
        known.entries = change(known.entries, 'n1', why, 160);
      },
    ],
    [
      'about a detach that is no longer needed',
      { is: 'in-use', ...inUse },
      (known) => forgetFailures(known, 'n1', ['detach']),
    ],
  ])('clears the message %s', (_, outcome, between) => {
    expect(lookedAfter(outcome, between)).toMatchObject({
      state: 'Attached',
      message: undefined,
      detail: undefined,
    });
  });
});

test('a verification that finds the device as expected resets the failures to attach', () => {
  const known = knownWith([]);
  applyOutcome(known, operation('attach'), unknown, clockAt(0), 0);
  applyOutcome(known, operation('verify'), attached, clockAt(0), 0);
  expect(failureOf(known, 'attach', 'n1')).toBeUndefined();
});

test.each(['Attached', 'Attaching', 'Uncertain'] as const)(
  'an attach that did nothing leaves a node that was %s as Uncertain',
  (state) => {
    const [was] = entry(state);
    const known = knownWith(change(entry(state), 'n1', { state: 'Attaching' }, 150));
    applyOutcome(known, operation('attach'), nothing, clockAt(200), 0, was);
    expect(known.entries).toMatchObject([{ node: 'n1', state: 'Uncertain', message: 'away' }]);
  },
);

test('an attach that did nothing leaves its node to be verified again', () => {
  const known = { ...knownWith(entry('Attaching')), unverifiedNodes: new Set<string>() };
  applyOutcome(known, operation('attach'), nothing, clockAt(200), 0);
  expect([...known.unverifiedNodes]).toEqual(['n1']);
});

test.each<[string, AttachmentOperationKind, Outcome]>([
  ['a detach of a device in use', 'detach', inUse],
  ['an attach that changed nothing', 'attach', still],
])('%s keeps the time of the attachment', (_, kind, outcome) => {
  const was = { ...(entry('Attached')[0] as NodeAttachment), safeToMount: true };
  const state = kind === 'attach' ? 'Attaching' : 'Detaching';
  const known = knownWith(change([was], 'n1', { state }, 150));
  applyOutcome(known, operation(kind), outcome, clockAt(200), 0, was);
  expect(known.entries[0]).toMatchObject({ state: 'Attached', since: 100 });
  // A volume in use can be mounted as before.
  if (outcome === inUse) expect(known.entries[0]?.safeToMount).toBe(true);
});

test.each<[string, readonly NodeAttachment[], string[]]>([
  ['is verified again if its state is unknown', [], ['n2']],
  ['is not verified again if attached', change([], 'n2', { state: 'Attached' }, 100), []],
])('a node that holds the file %s', (_, entries, unseen) => {
  const volume = { spec: { attachableNodes: ['n1', 'n2'] } } as Volume;
  const known = { ...knownWith(entries), volume, unverifiedNodes: new Set<string>() };
  const outcome: Outcome = {
    is: 'failed',
    message: 'held by node n2',
    heldBy: ['n2', 'no-node-of-it'],
  };
  applyOutcome(known, operation('attach'), outcome, clockAt(0), 0);
  expect([...known.unverifiedNodes]).toEqual(unseen);
});

test.each<[string, readonly NodeAttachment[], number]>([
  ['without an entry, with a growing delay', [], 600_000],
  ['with an Uncertain entry, each minute', entry('Uncertain'), 60_000],
])('a node without the mount is verified again: one %s', (_, entries, atMost) => {
  const known = knownWith(entries);
  const unfit: Outcome = { is: 'unknown', message: 'not mounted', noDevice: true };
  for (let times = 0; times < 20; times++) {
    applyOutcome(known, operation('verify'), unfit, clockAt(0), 0);
  }
  expect(failureOf(known, 'verify', 'n1')?.until).toBe(atMost);
  expect(known.unverifiedNodes.has('n1')).toBe(true);
  expect(known.entries.map(({ state }) => state)).toEqual(entries.map(() => 'Uncertain'));
});

describe('the message about a node that does not answer', () => {
  const silent = (message: string): Outcome => ({
    is: 'unknown',
    message,
    nothingDone: true,
    silent: true,
  });
  const clear: Outcome = { is: 'unknown', message: 'not mounted', nothingDone: true };
  const said = (kind: AttachmentOperationKind, ...outcomes: [at: number, outcome: Outcome][]) => {
    const known = knownWith(entry('Uncertain'));
    for (const [at, outcome] of outcomes)
      applyOutcome(known, operation(kind), outcome, clockAt(at), 0);
    return {
      shown: known.entries[0]?.message,
      failed: failureOf(known, kind, 'n1')?.message,
    };
  };
  const MINUTE = 60_000;

  test.each<[string, [number, Outcome][], string]>([
    ['stays if only the wording differs', [[9 * MINUTE, silent('no route')]], 'timed out'],
    [
      'changes after ten minutes, however often it was kept',
      [
        [9 * MINUTE, silent('no route')],
        [10 * MINUTE, silent('no route')],
      ],
      'no route',
    ],
    ['is replaced once the node answers', [[1000, clear]], 'not mounted'],
    [
      'is replaced if the node is silent again after an answer',
      [
        [1000, clear],
        [2000, silent('no route')],
      ],
      'no route',
    ],
    [
      'is replaced if the node is silent again after a verification',
      [
        [1000, attached],
        [2000, silent('no route')],
      ],
      'no route',
    ],
  ])('%s', (_, later, message) => {
    expect(said('verify', [0, silent('timed out')], ...later)).toEqual({
      shown: message,
      failed: message,
    });
  });

  test('stays the same for a failed attach', () => {
    const words = said('attach', [0, silent('timed out')], [1000, silent('no route')]);
    expect(words.failed).toBe('timed out');
  });

  test('is kept for each node separately', () => {
    const known = knownWith([]);
    applyOutcome(known, operation('verify'), silent('timed out'), clockAt(0), 0);
    applyOutcome(known, operation('verify', 'n2'), silent('no route'), clockAt(0), 0);
    expect(failureOf(known, 'verify', 'n2')?.message).toBe('no route');
  });
});

import { describe, expect, test } from '@jest/globals';
import { reconcile } from '../../src/attachment/reconcile.ts';
import {
  always,
  DELETED,
  entry,
  MINUTE,
  NOW,
  notReady,
  OFF,
  onDemand,
  paused,
  shared,
  UP,
  use,
  type ViewChange,
  view,
  wanted,
} from '../support/attachment-view.ts';

const readers = shared({ readOnly: true });
const read = { readOnly: true };
const uncertain = { state: 'Uncertain' } as const;
const alive = () => true;

function startOf(change: ViewChange): string | undefined {
  const { start } = reconcile(view(change), NOW);
  return start === undefined ? undefined : `${start.kind} ${start.node}${start.readOnly ? ' ro' : ''}`;
}

type Case = [string, ViewChange, string | undefined];

describe('what is begun', () => {
  test.each<Case>([
    ['nothing wanted', {}, undefined],
    ['a pod', { wanted: [wanted('n1', 'a')] }, 'attach n1'],
    ['a pod on a reader', { volume: readers, wanted: [wanted('n1', 'a')] }, 'attach n1 ro'],
    ['Always, without pods', { volume: always(), wanted: [wanted('n1')] }, 'attach n1'],
    ['two nodes: in their order', { wanted: [wanted('n1', 'a'), wanted('n2', 'b')] }, 'attach n1'],
    [
      'two nodes, the first of them tried again later',
      { wanted: [wanted('n1', 'a'), wanted('n2', 'b')], notBefore: { 'attach n1': NOW + 1 } },
      'attach n2',
    ],
    [
      'a node not looked at yet, before a pod on another',
      { wanted: [wanted('n1', 'a')], unseen: ['n2'] },
      'look n2',
    ],
    [
      'one that did not answer, after it',
      { wanted: [wanted('n1', 'a')], unseen: ['n2'], notBefore: { 'look n2': NOW - 1 } },
      'attach n1',
    ],
    [
      'one that did not answer, and nothing else',
      {
        wanted: [wanted('n1', 'a')],
        entries: [entry('n1')],
        unseen: ['n2'],
        notBefore: { 'look n2': NOW - 1 },
      },
      'look n2',
    ],
    [
      'a reader uncertain on a node that did not answer, after a reader elsewhere',
      {
        volume: readers,
        wanted: [wanted('n1', 'a')],
        entries: [entry('n2', { ...read, ...uncertain })],
        notBefore: { 'look n2': NOW - 1 },
      },
      'attach n1 ro',
    ],
    ['a pod where it is', { wanted: [wanted('n1', 'a')], entries: [entry('n1')] }, undefined],
    [
      'a pod where it is, and not its link',
      { wanted: [wanted('n1', 'a')], entries: [entry('n1', { safeToMount: false })] },
      'attach n1',
    ],
    ['nobody left', { entries: [entry('n1', {}, 'a')] }, 'detach n1'],
    ['nobody left of a reader', { volume: readers, entries: [entry('n1', read)] }, 'detach n1 ro'],
    ['a pod that lives without its claim', { entries: [entry('n1', {}, 'a')], lives: alive }, undefined],
    ['Always at home', { volume: always(), wanted: [wanted('n1')], entries: [entry('n1')] }, undefined],
    [
      'Always at home, deleting',
      { volume: always({ attachable: false }), entries: [entry('n1')] },
      'detach n1',
    ],
    [
      'deleting, with a pod',
      { volume: always({ attachable: false }), wanted: [wanted('n1', 'a')], entries: [entry('n1')] },
      undefined,
    ],
    ['a Volume that is gone', { volume: undefined, entries: [entry('n1')] }, 'detach n1'],
    [
      'a Volume that is gone, wanted by policy before',
      { volume: undefined, wanted: [wanted('n1')], entries: [entry('n1')] },
      'detach n1',
    ],
    [
      'a Volume that is gone, and its pod is not',
      { volume: undefined, entries: [entry('n1', {}, 'a')], lives: alive },
      undefined,
    ],
    ['a pod that moved: detach first', { wanted: [wanted('n2', 'a')], entries: [entry('n1')] }, 'detach n1'],
    [
      'a pod that moved, detach tried again later',
      { wanted: [wanted('n2', 'a')], entries: [entry('n1')], notBefore: { 'detach n1': NOW + 1 } },
      undefined,
    ],
    [
      'readers: one more',
      { volume: readers, wanted: [wanted('n1', 'a'), wanted('n2', 'b')], entries: [entry('n1', read)] },
      'attach n2 ro',
    ],
    [
      'readers: detach before attach',
      { volume: readers, wanted: [wanted('n2', 'b')], entries: [entry('n1', read)] },
      'detach n1 ro',
    ],
    [
      'readers: a detach that waits keeps no other back',
      {
        volume: readers,
        wanted: [wanted('n2', 'b')],
        entries: [entry('n1', read)],
        notBefore: { 'detach n1': NOW + 1 },
      },
      'attach n2 ro',
    ],
    [
      'readers: not beside what can be written to',
      { volume: readers, wanted: [wanted('n1', 'a'), wanted('n2', 'b')], entries: [entry('n1')] },
      undefined,
    ],
    [
      'on two nodes that want it: the later one goes',
      {
        wanted: [wanted('n1', 'a'), wanted('n2', 'b')],
        entries: [entry('n1', { since: NOW }), entry('n2', { since: NOW - 1 })],
      },
      'detach n1',
    ],
    [
      'readers on two nodes stay',
      {
        volume: readers,
        wanted: [wanted('n1', 'a'), wanted('n2', 'b')],
        entries: [entry('n1', read), entry('n2', read)],
      },
      undefined,
    ],
    ['a node that it may not be on', { volume: onDemand(), wanted: [wanted('n2', 'a')] }, undefined],
    [
      'a node that it may not be on, and a pod there',
      { volume: onDemand(), wanted: [wanted('n2', 'a')], entries: [entry('n2')] },
      undefined,
    ],
    ['not made', { volume: shared({ attachable: false }), wanted: [wanted('n1', 'a')] }, undefined],
    ['a node that is gone', { wanted: [wanted('n1', 'a')], nodes: { n1: DELETED } }, undefined],
    ['a node that is off', { wanted: [wanted('n1', 'a')], nodes: { n1: OFF } }, undefined],
    ['a node that is NotReady', { wanted: [wanted('n1', 'a')], nodes: { n1: notReady(NOW) } }, 'attach n1'],
    ['paused', { wanted: [wanted('n1', 'a')], nodes: { n1: paused() } }, undefined],
    ['paused, to be detached', { entries: [entry('n1')], nodes: { n1: paused() } }, undefined],
    [
      'the first node is paused',
      { wanted: [wanted('n1', 'a'), wanted('n2', 'b')], nodes: { n1: paused('Node n1') } },
      'attach n2',
    ],
  ])('%s', (_, change, start) => {
    expect(startOf(change)).toBe(start);
  });
});

describe('looks', () => {
  test.each<Case>([
    ['uncertain', { entries: [entry('n1', uncertain)] }, 'look n1'],
    ['uncertain and wanted', { wanted: [wanted('n1', 'a')], entries: [entry('n1', uncertain)] }, 'look n1'],
    ['uncertain elsewhere', { wanted: [wanted('n2', 'a')], entries: [entry('n1', uncertain)] }, 'look n1'],
    ['Attaching, and nothing runs', { entries: [entry('n1', { state: 'Attaching' })] }, 'look n1'],
    ['Detaching, and nothing runs', { entries: [entry('n1', { state: 'Detaching' })] }, 'look n1'],
    ['Attached before its node booted', { entries: [entry('n1')], unseen: ['n1'] }, 'look n1'],
    [
      'Attached before its node booted, and wanted',
      { wanted: [wanted('n1', 'a')], entries: [entry('n1', {}, 'a')], unseen: ['n1'] },
      'look n1',
    ],
    [
      'uncertain, looked at again later: it keeps the others back',
      { wanted: [wanted('n2', 'a')], entries: [entry('n1', uncertain)], notBefore: { 'look n1': NOW + 1 } },
      undefined,
    ],
    [
      'uncertain of a reader keeps no reader back',
      {
        volume: readers,
        wanted: [wanted('n2', 'a')],
        entries: [entry('n1', { ...uncertain, ...read })],
        notBefore: { 'look n1': NOW + 1 },
      },
      'attach n2 ro',
    ],
    [
      'uncertain comes before unseen and before detach',
      { entries: [entry('n1'), entry('n3', uncertain)], unseen: ['n2'] },
      'look n3',
    ],
    ['unseen', { unseen: ['n2'] }, 'look n2'],
    ['unseen of readers', { volume: readers, unseen: ['n2'] }, 'look n2 ro'],
    ['unseen of a Volume that is gone', { volume: undefined, unseen: ['n2'] }, 'look n2'],
    ['unseen comes before detach', { entries: [entry('n1')], unseen: ['n2'] }, 'look n2'],
    ['unseen comes before attach elsewhere', { wanted: [wanted('n1', 'a')], unseen: ['n2'] }, 'look n2'],
    ['an attach looks itself', { wanted: [wanted('n1', 'a')], unseen: ['n1'] }, 'attach n1'],
    [
      'only where it goes: the other is looked at',
      { wanted: [wanted('n1', 'a'), wanted('n2', 'b')], unseen: ['n1', 'n2'] },
      'look n2',
    ],
    [
      'readers go to both',
      { volume: readers, wanted: [wanted('n1', 'a'), wanted('n2', 'b')], unseen: ['n1', 'n2'] },
      'attach n1 ro',
    ],
    [
      'unseen and wanted, and not to be attached there',
      { wanted: [wanted('n1', 'a'), wanted('n2', 'b')], entries: [entry('n1')], unseen: ['n2'] },
      'look n2',
    ],
    [
      'unseen that did not answer keeps nothing back',
      { wanted: [wanted('n1', 'a')], unseen: ['n2'], notBefore: { 'look n2': NOW + 1 } },
      'attach n1',
    ],
    ['paused', { entries: [entry('n1', uncertain)], nodes: { n1: paused() } }, 'look n1'],
    [
      'paused and unseen',
      { wanted: [wanted('n1', 'a')], unseen: ['n1'], nodes: { n1: paused() } },
      'look n1',
    ],
    ['NotReady', { entries: [entry('n1', uncertain)], nodes: { n1: notReady(NOW) } }, 'look n1'],
    ['a node that is gone', { unseen: ['n1'], nodes: { n1: DELETED } }, undefined],
    [
      'unseen, and not waited for any more',
      { volume: onDemand(), unseen: ['n1'], nodes: { n1: notReady(NOW - 6 * MINUTE) } },
      undefined,
    ],
    [
      'unseen, and waited for',
      { volume: onDemand(), unseen: ['n1'], nodes: { n1: notReady(NOW - 6 * MINUTE + 1) } },
      'look n1',
    ],
    [
      'unseen, and it may still write',
      { unseen: ['n1'], nodes: { n1: notReady(NOW - 60 * MINUTE) } },
      'look n1',
    ],
    ['a node that is off', { unseen: ['n1'], nodes: { n1: OFF } }, undefined],
  ])('%s', (_, change, start) => {
    expect(startOf(change)).toBe(start);
  });
});

test.each<[string, ViewChange]>([
  ['a look', { entries: [entry('n1', uncertain)] }],
  ['a look at what is unseen', { unseen: ['n2'] }],
  ['a detach', { entries: [entry('n1')] }],
  ['an attach', { wanted: [wanted('n1', 'a')] }],
])('with an operation under way %s is not begun', (_, change) => {
  const running = { kind: 'detach', node: 'n3', readOnly: false } as const;
  const next = reconcile(view({ ...change, running, notBefore: { 'attach n1': NOW + 1 } }), NOW);
  expect([next.start, next.again]).toEqual([undefined, undefined]);
});

describe('a node that is gone', () => {
  const old = notReady(NOW - 6 * MINUTE);
  const single = onDemand();
  test.each<[string, ViewChange, string[]]>([
    ['Ready', { volume: single, entries: [entry('n1')] }, []],
    ['NotReady too long', { volume: single, entries: [entry('n1')], nodes: { n1: old } }, ['n1 timeout']],
    [
      'NotReady not that long',
      { volume: single, entries: [entry('n1')], nodes: { n1: notReady(NOW - 6 * MINUTE + 1) } },
      [],
    ],
    [
      'NotReady since nobody knows when',
      { volume: single, entries: [entry('n1')], nodes: { n1: { ...UP, ready: false } } },
      [],
    ],
    [
      'NotReady, never let go of',
      { volume: onDemand({ maxWaitForUnmountMs: Infinity }), entries: [entry('n1')], nodes: { n1: old } },
      [],
    ],
    [
      'NotReady, and not known whether it is there',
      { volume: single, entries: [entry('n1', uncertain)], nodes: { n1: old } },
      ['n1 timeout'],
    ],
    [
      'NotReady, with a pod',
      { volume: single, wanted: [wanted('n1', 'a')], entries: [entry('n1')], nodes: { n1: old } },
      [],
    ],
    [
      'NotReady, with a pod that lives without its claim',
      { volume: single, entries: [entry('n1', {}, 'a')], lives: alive, nodes: { n1: old } },
      [],
    ],
    [
      'NotReady, Always at home',
      { volume: always(), wanted: [wanted('n1')], entries: [entry('n1')], nodes: { n1: old } },
      [],
    ],
    [
      'NotReady, Always at home, and a pod where it may not be',
      {
        volume: always(),
        wanted: [wanted('n1'), wanted('n2', 'a')],
        entries: [entry('n1')],
        nodes: { n1: old },
      },
      [],
    ],
    [
      'NotReady, and wanted elsewhere',
      {
        volume: shared({ ...readers, policy: 'Always' }),
        wanted: [wanted('n1'), wanted('n2', 'a')],
        entries: [entry('n1', read)],
        nodes: { n1: old },
      },
      ['n1 timeout'],
    ],
    [
      'NotReady, and an operation is under way there',
      {
        volume: single,
        entries: [entry('n1')],
        nodes: { n1: old },
        running: { kind: 'detach', node: 'n1', readOnly: false },
      },
      [],
    ],
    [
      'NotReady, and an operation is under way elsewhere',
      {
        volume: readers,
        entries: [entry('n1', read)],
        nodes: { n1: old },
        running: { kind: 'attach', node: 'n2', readOnly: true },
      },
      ['n1 timeout'],
    ],
    [
      'NotReady, and the Volume is gone',
      { volume: undefined, entries: [entry('n1')], nodes: { n1: old } },
      [],
    ],
    ['deleted', { volume: single, entries: [entry('n1')], nodes: { n1: DELETED } }, ['n1 node-gone']],
    [
      'deleted, Always at home',
      { volume: always(), wanted: [wanted('n1')], entries: [entry('n1')], nodes: { n1: DELETED } },
      [],
    ],
    [
      'deleted, with a pod',
      { volume: single, wanted: [wanted('n1', 'a')], entries: [entry('n1')], nodes: { n1: DELETED } },
      [],
    ],
    [
      'deleted, and the Volume, too',
      { volume: undefined, entries: [entry('n1')], nodes: { n1: DELETED } },
      ['n1 node-gone'],
    ],
    ['off', { volume: single, entries: [entry('n1')], nodes: { n1: OFF } }, ['n1 out-of-service']],
    [
      'off, with a pod',
      { volume: single, wanted: [wanted('n1', 'a')], entries: [entry('n1')], nodes: { n1: OFF } },
      ['n1 out-of-service'],
    ],
    [
      'off, and an operation is under way there',
      {
        entries: [entry('n1', { state: 'Detaching' })],
        nodes: { n1: OFF },
        running: { kind: 'detach', node: 'n1', readOnly: false },
      },
      ['n1 out-of-service'],
    ],
    ['shared: NotReady', { entries: [entry('n1')], nodes: { n1: old } }, []],
    ['shared: deleted', { entries: [entry('n1')], nodes: { n1: DELETED } }, []],
    ['shared: off', { entries: [entry('n1')], nodes: { n1: OFF } }, ['n1 out-of-service']],
    [
      'shared by readers: NotReady',
      { volume: readers, entries: [entry('n1', read)], nodes: { n1: old } },
      ['n1 timeout'],
    ],
    [
      'shared by readers: deleted',
      { volume: readers, entries: [entry('n1', read)], nodes: { n1: DELETED } },
      ['n1 node-gone'],
    ],
  ])('%s', (_, change, forced) => {
    // As if the node did not answer: no operation of its own matters here.
    const notBefore = { 'look n1': Infinity, 'detach n1': Infinity, 'attach n1': Infinity };
    const next = reconcile(view({ notBefore, ...change }), NOW);
    expect(next.forced.map(({ node, reason }) => `${node} ${reason}`)).toEqual(forced);
    expect(next.entries.map(({ node }) => node)).toEqual(forced.length > 0 ? [] : ['n1']);
  });

  test('says why it keeps what is shared, until there is a Node of that name again', () => {
    const gone = reconcile(view({ entries: [entry('n1')], nodes: { n1: DELETED } }), NOW);
    expect(gone.entries).toMatchObject([{ message: expect.stringMatching(/^there is no Node n1 any more/) }]);
    const change: ViewChange = { entries: gone.entries, nodes: { n1: DELETED } };
    expect(reconcile(view(change), NOW).entries).toBe(gone.entries);
    const { entries } = reconcile(view({ ...change, nodes: { n1: old } }), NOW);
    expect(entries).toMatchObject([{ message: undefined }]);
    const read = entry('n1', { message: 'mounted' });
    expect(reconcile(view({ entries: [read] }), NOW).entries).toEqual([read]);
  });

  test('its volume is attached elsewhere at once', () => {
    const change = { wanted: [wanted('n2', 'a')], entries: [entry('n1', {}, 'b')], nodes: { n1: OFF } };
    const next = reconcile(view(change), NOW);
    expect(next).toMatchObject({ entries: [], start: { kind: 'attach', node: 'n2' }, blocked: [] });
    expect(next.forced[0]?.message).toBe(
      'Node n1 has the taint node.kubernetes.io/out-of-service: Volume v1 is taken for detached there, though ' +
        'nobody looked. It is looked at when the node is back',
    );
  });

  test('what is found when it is back is detached first', () => {
    const change = { wanted: [wanted('n2', 'a')], entries: [entry('n1'), entry('n2', {}, 'a')] };
    expect(startOf({ ...change, entries: [entry('n2', {}, 'a')], unseen: ['n1'] })).toBe('look n1');
    expect(startOf(change)).toBe('detach n1');
  });

  test.each<[string, ViewChange, RegExp]>([
    ['timeout', { nodes: { n1: old } }, /^Node n1 has not been Ready for 360 s: Volume v1 is taken/],
    ['node-gone', { nodes: { n1: DELETED } }, /^There is no Node n1 any more: Volume v1 is taken/],
    ['gone as well', { volume: undefined, nodes: { n1: DELETED } }, /: the Volume, which is gone itself, is/],
  ])('%s is said', (_, change, message) => {
    const { forced } = reconcile(view({ volume: single, entries: [entry('n1')], ...change }), NOW);
    expect(forced[0]?.message).toMatch(message);
  });
});

describe('when to decide again', () => {
  test.each<[string, ViewChange, number | undefined]>([
    ['not by itself', { wanted: [wanted('n1', 'a')], entries: [entry('n1', {}, 'a')] }, undefined],
    [
      'when an operation may be tried again',
      { wanted: [wanted('n1', 'a')], notBefore: { 'attach n1': NOW + 7 } },
      NOW + 7,
    ],
    [
      'at the earliest of them',
      {
        volume: readers,
        wanted: [wanted('n1', 'a'), wanted('n2', 'b')],
        entries: [entry('n3', { ...uncertain, ...read })],
        notBefore: { 'attach n1': NOW + 9, 'attach n2': NOW + 8, 'look n3': NOW + 10 },
      },
      NOW + 8,
    ],
    [
      'when what was tried is unseen, too',
      { wanted: [wanted('n1', 'a')], unseen: ['n2'], notBefore: { 'look n2': NOW + 5 } },
      NOW + 5,
    ],
    [
      'not because of a node that is away for ever',
      {
        volume: onDemand({ maxWaitForUnmountMs: Infinity }),
        entries: [entry('n1')],
        nodes: { n1: notReady(NOW - MINUTE) },
        notBefore: { 'detach n1': Infinity },
      },
      undefined,
    ],
    [
      'before a node has been away too long',
      {
        volume: onDemand(),
        entries: [entry('n1')],
        nodes: { n1: notReady(NOW - MINUTE) },
        notBefore: { 'detach n1': NOW + 6 * MINUTE },
      },
      NOW + 5 * MINUTE,
    ],
    ['never, when never', { wanted: [wanted('n1', 'a')], notBefore: { 'attach n1': Infinity } }, undefined],
  ])('%s', (_, change, again) => {
    expect(reconcile(view(change), NOW).again).toBe(again);
  });

  test('what may be tried now is begun', () => {
    expect(startOf({ wanted: [wanted('n1', 'a')], notBefore: { 'attach n1': NOW } })).toBe('attach n1');
  });
});

describe('of a Volume whose object names what Stowage never wrote', () => {
  const problem = 'status.prepared names ["/etc/shadow"]';
  test.each<[string, ViewChange]>([
    ['a pod', { wanted: [wanted('n1', 'a')] }],
    ['Always, without pods', { volume: always(), wanted: [wanted('n1')] }],
    ['nobody left', { entries: [entry('n1')] }],
    ['a node that was never looked at', { unseen: ['n1'] }],
    ['an entry of which nothing is known', { entries: [entry('n1', uncertain)] }],
    ['a Volume that is gone', { volume: undefined, entries: [entry('n1')] }],
    ['a node that is off', { entries: [entry('n1')], nodes: { n1: OFF } }],
  ])('nothing is begun or let go of: %s', (_, change) => {
    const { start, forced, entries, again } = reconcile(view({ ...change, problem }), NOW);
    expect([start, forced, entries, again]).toEqual([undefined, [], change.entries ?? [], undefined]);
  });

  test.each<[string, ViewChange, number]>([
    ['where it is not', {}, 1],
    ['where it may be', { entries: [entry('n1', uncertain)] }, 1],
    ['where it is', { entries: [entry('n1')] }, 0],
  ])('a pod is told why it waits, %s', (_, change, times) => {
    const { blocked } = reconcile(view({ wanted: [wanted('n1', 'a')], ...change, problem }), NOW);
    const message = `Volume v1: ${problem}. Nothing is done on any node by it; correct the status`;
    const told = { node: 'n1', pods: [use('a', 'n1')], reason: 'problem', message };
    expect(blocked).toEqual(Array.from({ length: times }, () => told));
  });
});

describe('who waits, and why', () => {
  const moved = { wanted: [wanted('n2', 'a')] };
  const taint = 'node.kubernetes.io/out-of-service';
  const multi = 'Multi-Attach error for volume "v1" Volume is already';
  const exclusively = `${multi} exclusively attached to one node and can't be attached to another`;
  test.each<[string, ViewChange, string, string]>([
    [
      'still attached',
      { entries: [entry('n1')] },
      'multi-attach',
      `${exclusively}: node n1 has it (Attached)`,
    ],
    [
      'used by others',
      { wanted: [wanted('n1', 'b', 'c'), wanted('n2', 'a')], entries: [entry('n1')] },
      'multi-attach',
      `${multi} used by pod(s) app/b, app/c: node n1 has it (Attached)`,
    ],
    [
      'why it does not let go',
      { entries: [entry('n1', { message: '/dev/loop1 is mounted at /x' })] },
      'multi-attach',
      `${exclusively}: node n1 has it (Attached), /dev/loop1 is mounted at /x`,
    ],
    [
      'not known',
      { entries: [entry('n1', { ...uncertain, message: 'no answer' })] },
      'multi-attach',
      `${exclusively}: node n1 has it (Uncertain), whether it still has is found out by a look at it; no answer`,
    ],
    [
      'being attached elsewhere',
      { entries: [entry('n1', { state: 'Attaching' })] },
      'multi-attach',
      `${exclusively}: node n1 has it (Attaching)`,
    ],
    [
      'being detached elsewhere',
      { entries: [entry('n1', { state: 'Detaching' })] },
      'multi-attach',
      `${exclusively}: node n1 has it (Detaching)`,
    ],
    [
      'on a node that is NotReady',
      { entries: [entry('n1')], nodes: { n1: notReady(NOW - 60 * MINUTE) } },
      'multi-attach',
      `${exclusively}: node n1 has it (Attached), and is not Ready, so that it may still write: once it is off, say so by the taint ${taint} on it`,
    ],
    [
      'on a node that is deleted',
      { entries: [entry('n1')], nodes: { n1: DELETED } },
      'multi-attach',
      `${exclusively}: node n1 has it (Attached), there is no Node n1 any more, and the machine may still write: once it is off, say so by the taint node.kubernetes.io/out-of-service on a Node of that name that you make`,
    ],
    [
      'held by a pause',
      { entries: [entry('n1')], nodes: { n1: paused('Node n1') } },
      'multi-attach',
      `${exclusively}: node n1 has it (Attached), and is kept from letting go by the annotation stowage.dev/paused of Node n1`,
    ],
    [
      'a reader beside what can be written to',
      { volume: readers, entries: [entry('n1', {}, 'b')], lives: alive },
      'multi-attach',
      `${multi} used by pod(s) app/b: node n1 has it (Attached)`,
    ],
    [
      'a reader on a node that is NotReady',
      { volume: readers, entries: [entry('n1', {}, 'b')], lives: alive, nodes: { n1: notReady(NOW) } },
      'multi-attach',
      `${multi} used by pod(s) app/b: node n1 has it (Attached), and is not Ready, and its pods are not deleted`,
    ],
    [
      'on the wrong node',
      { volume: shared({ nodes: ['n1', 'n3'] }) },
      'node-not-allowed',
      'Volume v1 can be attached to n1, n3 alone, and not to n2: run the pod there',
    ],
    [
      'not made',
      { volume: shared({ attachable: false }) },
      'not-made',
      'Volume v1 is not there to be attached: it was not made yet, or is being deleted',
    ],
    [
      'no Volume',
      { volume: undefined },
      'gone',
      'The Volume of this PersistentVolume is gone: delete the pod',
    ],
    ['no node', { nodes: { n2: DELETED } }, 'gone', 'There is no Node n2 to attach Volume v1 to'],
    [
      'off',
      { nodes: { n2: OFF } },
      'gone',
      `Volume v1 is not attached to Node n2, which has the taint ${taint} and is not Ready: take the taint off once it is back`,
    ],
    [
      'paused',
      { nodes: { n2: paused() } },
      'paused',
      'Volume v1 is to be attached to n2, but the annotation stowage.dev/paused of Volume v1 keeps that from being done: take it off',
    ],
    [
      'paused, and its link is missing',
      { entries: [entry('n2', { safeToMount: false })], nodes: { n2: paused('Node n2') } },
      'paused',
      'Volume v1 is to be attached to n2, but the annotation stowage.dev/paused of Node n2 keeps that from being done: take it off',
    ],
  ])('%s', (_, change, reason, message) => {
    const { blocked } = reconcile(view({ ...moved, ...change }), NOW);
    expect(blocked.filter(({ pods }) => pods.length > 0)).toEqual([
      { node: 'n2', pods: [use('a', 'n2')], reason, message },
    ]);
  });

  test.each<[string, ViewChange]>([
    ['attached', { ...moved, entries: [entry('n2')] }],
    ['not known', { ...moved, entries: [entry('n2', uncertain)] }],
    ['to be attached', moved],
    ['tried again later', { ...moved, notBefore: { 'attach n2': NOW + 1 } }],
    ['not wanted', { nodes: { n2: OFF } }],
    ['Always, and off', { volume: always(), wanted: [wanted('n1')], nodes: { n1: OFF } }],
  ])('nobody: %s', (_, change) => {
    expect(reconcile(view(change), NOW).blocked).toEqual([]);
  });

  test('each node once', () => {
    const change = {
      wanted: [wanted('n1', 'a'), wanted('n2', 'b'), wanted('n3', 'c', 'd'), wanted('n7', 'e')],
      entries: [entry('n1')],
    };
    const { blocked } = reconcile(view(change), NOW);
    expect(blocked.map(({ node, pods, reason }) => [node, pods.length, reason])).toEqual([
      ['n2', 1, 'multi-attach'],
      ['n3', 2, 'multi-attach'],
      ['n7', 1, 'node-not-allowed'],
    ]);
  });

  test('of two that have it, the one that does not keep it', () => {
    const change = {
      wanted: [wanted('n1', 'a'), wanted('n2', 'b')],
      entries: [entry('n1'), entry('n2', { since: NOW })],
    };
    const { blocked } = reconcile(view(change), NOW);
    expect(blocked.map(({ node, reason }) => [node, reason])).toEqual([['n2', 'multi-attach']]);
  });

  test.each<[string, ViewChange]>([
    ['Always at home', { volume: always(), wanted: [wanted('n1')], nodes: { n1: paused() } }],
    ['to be detached', { entries: [entry('n1')], nodes: { n1: paused() } }],
    [
      'to be detached, and the Volume gone',
      { volume: undefined, entries: [entry('n1')], nodes: { n1: paused() } },
    ],
  ])('paused, and no pod: %s', (_, change) => {
    const { blocked } = reconcile(view(change), NOW);
    expect(blocked).toMatchObject([{ node: 'n1', pods: [], reason: 'paused' }]);
    expect(blocked[0]?.message).toContain('annotation stowage.dev/paused of Volume v1');
  });

  test.each<[string, ViewChange]>([
    ['Always, attached', { volume: always(), wanted: [wanted('n1')], entries: [entry('n1')] }],
    ['looked at', { entries: [entry('n1', uncertain)] }],
  ])('paused, and nothing waits: %s', (_, change) => {
    expect(reconcile(view({ ...change, nodes: { n1: paused() } }), NOW).blocked).toEqual([]);
  });
});

test('entries are those given when nothing changes', () => {
  const entries = [entry('n1', {}, 'a')];
  expect(reconcile(view({ wanted: [wanted('n1', 'a')], entries }), NOW).entries).toBe(entries);
});

describe('why it could not be detached', () => {
  const told = { message: 'mounted' };
  const messageOf = (change: ViewChange) =>
    reconcile(view({ volume: onDemand(), entries: [entry('n1', told, 'a')], ...change }), NOW).entries[0]
      ?.message;

  test.each<[string, ViewChange, string | undefined]>([
    ['is over when a pod needs it there', { wanted: [wanted('n1', 'a')] }, undefined],
    ['is over with Always', { volume: always(), wanted: [wanted('n1')] }, undefined],
    ['stays while nothing needs it', {}, 'mounted'],
    [
      'stays where it cannot be mounted',
      { wanted: [wanted('n1', 'a')], entries: [entry('n1', { ...told, safeToMount: false }, 'a')] },
      'mounted',
    ],
    [
      'stays on the node that is not to have it, though pods want it there',
      {
        volume: shared(),
        wanted: [wanted('n1', 'a'), wanted('n2', 'b')],
        entries: [entry('n1', told, 'a'), entry('n2', { since: NOW - 20 * MINUTE }, 'b')],
      },
      'mounted',
    ],
  ])('%s', (_, change, message) => {
    expect(messageOf(change)).toBe(message);
  });
});

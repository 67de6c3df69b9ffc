import { describe, expect, test } from '@jest/globals';
import { nextOperation } from '../../../../src/controllers/attachdetach/next-operation.ts';
import {
  alive,
  always,
  DELETED,
  entry,
  held,
  MINUTE,
  NOW,
  notReady,
  OFF,
  onDemand,
  onN1,
  onN2,
  read,
  readers,
  shared,
  startOf,
  UP,
  uncertain,
  type ViewChange,
  view,
  wanted,
} from '../../../support/attachment-view.ts';

describe('force-detach', () => {
  const old = notReady(NOW - 6 * MINUTE);
  const single = onDemand();
  test.each<[string, ViewChange, string[]]>([
    ['Ready', { volume: single, ...held }, []],
    ['NotReady too long', { volume: single, ...held, nodes: { n1: old } }, ['n1 timeout']],
    [
      'NotReady not long enough',
      { volume: single, ...held, nodes: { n1: notReady(NOW - 6 * MINUTE + 1) } },
      [],
    ],
    [
      'NotReady since an unknown time',
      { volume: single, ...held, nodes: { n1: { ...UP, ready: false } } },
      [],
    ],
    [
      'NotReady, without a timeout',
      { volume: onDemand({ maxWaitForUnmountMs: Infinity }), ...held, nodes: { n1: old } },
      [],
    ],
    [
      'NotReady, and Uncertain',
      { volume: single, entries: [entry('n1', uncertain)], nodes: { n1: old } },
      ['n1 timeout'],
    ],
    ['NotReady, with a pod', { volume: single, ...onN1, ...held, nodes: { n1: old } }, []],
    [
      'NotReady, with an active pod whose claim is gone',
      { volume: single, entries: [entry('n1', {}, 'a')], isPodActive: alive, nodes: { n1: old } },
      [],
    ],
    [
      'NotReady, Always at home',
      { volume: always(), wanted: [wanted('n1')], ...held, nodes: { n1: old } },
      [],
    ],
    [
      'NotReady, Always at home, and a pod on a wrong node',
      { volume: always(), wanted: [wanted('n1'), wanted('n2', 'a')], ...held, nodes: { n1: old } },
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
        ...held,
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
    ['NotReady, and the Volume is gone', { volume: undefined, ...held, nodes: { n1: old } }, []],
    ['deleted', { volume: single, ...held, nodes: { n1: DELETED } }, ['n1 node-gone']],
    [
      'deleted, Always at home',
      { volume: always(), wanted: [wanted('n1')], ...held, nodes: { n1: DELETED } },
      [],
    ],
    ['deleted, with a pod', { volume: single, ...onN1, ...held, nodes: { n1: DELETED } }, []],
    [
      'deleted, and so is the Volume',
      { volume: undefined, ...held, nodes: { n1: DELETED } },
      ['n1 node-gone'],
    ],
    ['off', { volume: single, ...held, nodes: { n1: OFF } }, ['n1 out-of-service']],
    [
      'off, with a pod',
      { volume: single, ...onN1, ...held, nodes: { n1: OFF } },
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
    ['shared: NotReady', { ...held, nodes: { n1: old } }, []],
    ['shared: deleted', { ...held, nodes: { n1: DELETED } }, []],
    ['shared: off', { ...held, nodes: { n1: OFF } }, ['n1 out-of-service']],
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
  ])('depends on the state of node and volume: %s', (_, change, forced) => {
    // No operation is due, as on an unreachable node: only force-detaches matter here.
    const notBefore = { 'verify n1': Infinity, 'detach n1': Infinity, 'attach n1': Infinity };
    const next = nextOperation(view({ notBefore, ...change }), NOW);
    expect(next.forced.map(({ node, reason }) => `${node} ${reason}`)).toEqual(forced);
    expect(next.entries.map(({ node }) => node)).toEqual(forced.length > 0 ? [] : ['n1']);
  });

  test('keeps a shared volume of a deleted Node and reports why, until the Node is back', () => {
    const gone = nextOperation(view({ ...held, nodes: { n1: DELETED } }), NOW);
    expect(gone.entries).toMatchObject([
      {
        message: expect.stringMatching(/^Node n1 no longer exists/),
        detail: { code: 'NodeGone', parameters: { node: 'n1' } },
      },
    ]);
    const change: ViewChange = { entries: gone.entries, nodes: { n1: DELETED } };
    expect(nextOperation(view(change), NOW).entries).toBe(gone.entries);
    const { entries } = nextOperation(view({ ...change, nodes: { n1: old } }), NOW);
    expect(entries).toMatchObject([{ message: undefined, detail: undefined }]);
    const read = entry('n1', { message: 'mounted' });
    expect(nextOperation(view({ entries: [read] }), NOW).entries).toEqual([read]);
  });

  test('starts the attach to another node at once', () => {
    const change = { ...onN2, entries: [entry('n1', {}, 'b')], nodes: { n1: OFF } };
    const next = nextOperation(view(change), NOW);
    expect(next).toMatchObject({ entries: [], start: { kind: 'attach', node: 'n2' }, blocked: [] });
    expect(next.forced[0]).toMatchObject({
      message:
        'Node n1 has the taint node.kubernetes.io/out-of-service: Volume v1 is force-detached ' +
        'without verification. It is verified when the node returns',
      detail: { code: 'ForceDetachedOutOfService' },
    });
  });

  test('is followed by a verification and a detach when the node is back', () => {
    const change = { ...onN2, entries: [entry('n1'), entry('n2', {}, 'a')] };
    expect(startOf({ ...change, entries: [entry('n2', {}, 'a')], unverified: ['n1'] })).toBe(
      'verify n1',
    );
    expect(startOf(change)).toBe('detach n1');
  });

  test.each<[string, ViewChange, string, RegExp]>([
    [
      'timeout',
      { nodes: { n1: old } },
      'ForceDetachedNotReady',
      /^Node n1 has not been Ready for 360 s: Volume v1 is force-detached without verification/,
    ],
    [
      'node-gone',
      { nodes: { n1: DELETED } },
      'ForceDetachedNodeGone',
      /^Node n1 no longer exists: Volume v1 is force-detached without verification/,
    ],
    [
      'the Volume is gone, too',
      { volume: undefined, nodes: { n1: DELETED } },
      'ForceDetachedNodeGone',
      /: the deleted Volume is/,
    ],
  ])('reports its reason: %s', (_, change, code, message) => {
    const { forced } = nextOperation(view({ volume: single, ...held, ...change }), NOW);
    expect(forced[0]?.message).toMatch(message);
    expect(forced[0]?.detail).toMatchObject({ code });
  });
});
